# `make run` and `make test` are all a new machine needs; `make help` lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PY := .venv/bin/python
UV_VERSION := 0.13.7
export PYTHONUTF8 := 1
export MLFLOW_DISABLE_TELEMETRY := true

help: ## list the verbs
	@grep -hE '^[a-z]+:.*##' Makefile | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

run: setup ## set up, then run Heddle end to end on generated events
	@$(PY) -m heddle demo

ui: .venv/ready ## start Airflow and MLflow on what `make run` left, until Ctrl-C
	@$(PY) -m heddle ui

test: .venv/ready ## set up, then pass every check, and every test that takes no minutes
	@$(MAKE) --no-print-directory -j2 lint suite

# Three processes on two cores: a test often waits for its Spark or its Airflow.
suite: warm
	@$(PY) -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not long"

# Four processes: most of these tests wait, for slow stores and for servers that are down.
long: warm ## pass the tests that take minutes: a browser, stores that fail, docs followed to the letter, more seeds
	@$(PY) -m pytest -n 4 --dist loadfile --no-loadscope-reorder -m long

quick: .venv/ready ## pass the tests that need no Spark, no Airflow, no browser and few seconds each
	@$(PY) -m pytest -n 2 --dist loadfile -m "not spark and not airflow and not long and not slow"

fuzz: .venv/ready ## try random cases against the oracle: MINUTES=1 SEED=1; ORACLE=spark lets plain Spark judge, ORACLE=others DuckDB and polars, ORACLE=itself the plainest plan
	@$(PY) -m tests.fuzz --minutes $(or $(MINUTES),1) --seed $(or $(SEED),1) --oracle $(or $(ORACLE),python)

simulate: .venv/ready ## play the commit protocol with kills, races and repeats: MINUTES=1 SEED=1; EPISODES=1 plays one seed
	@$(PY) -m tests.simulation --minutes $(or $(MINUTES),1) --seed $(or $(SEED),1) --episodes $(or $(EPISODES),0)

hostile: .venv/ready ## try bytes that follow the code's coverage: TARGET=catalog (or page) MINUTES=10
	@$(MAKE) --no-print-directory .venv-hostile/ready
	@.venv-hostile/bin/python -m tests.hostile $(or $(TARGET),catalog) --minutes $(or $(MINUTES),10)

soak: .venv/ready ## run a stream for MINUTES=60 and kill one of its processes every minute; rows right, files, memory and CPU flat
	@$(PY) -m tests.whole.faults.soak --minutes $(or $(MINUTES),60) --every $(or $(EVERY),60) --seed $(or $(SEED),1)

sbom: .venv/ready ## write the bill of materials of the lock into build/sbom.json
	@mkdir -p build
	@$(PY) -W ignore::UserWarning -m cyclonedx_py requirements requirements.txt --pyproject pyproject.toml --output-reproducible --of JSON -o build/sbom.json

production: .venv/ready ## test the production shape: Postgres, a Spark cluster, MLflow, Airflow's services
	@$(PY) -m pytest tests/whole/production

bench: .venv/ready ## list the benchmarks; NAME=engine runs one, with ARGS="..." if you like
ifeq ($(NAME),)
	@$(PY) -m benchmarks
else
	@$(MAKE) --no-print-directory .venv-bench/ready
	@.venv-bench/bin/python -m benchmarks.$(NAME) $(ARGS)
endif

evidence: .venv/ready ## rerun the papers' experiments and the peers into docs/evidence.md; PART=plans for one part
	@$(MAKE) --no-print-directory .venv-bench/ready
	@$(MAKE) --no-print-directory .venv-flink/ready || echo "Flink cannot be installed here and is left out"
	@.venv-bench/bin/python -m benchmarks.evidence $(PART) $(ARGS)

lint: .venv/ready ## style, types and the direction of imports
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@.venv/bin/lint-imports

format: .venv/ready ## rewrite the code in the house style
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

docs: .venv/ready ## write the generated pages of docs/, and build the site into build/site; SERVE=1 shows it
	@$(PY) -m tools.pages
	@$(MAKE) --no-print-directory .venv-docs/ready
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs $(if $(SERVE),serve,build --quiet)

warm: .venv/ready ## compile the kernels and archive Spark's classes ahead of the first run
	@$(PY) -m heddle warm

setup: .venv/ready ## install everything into .venv, compile the kernels, and price this machine
	@$(PY) -m heddle warm --columnar > /dev/null
	@$(PY) -m heddle calibrate > /dev/null

lock: .venv/ready ## resolve requirements.in again into requirements.txt
	@$(PY) -m uv pip compile requirements.in --override overrides.txt --python-version 3.11 --no-annotate --no-header -q -o requirements.txt

clean: ## remove what runs and tests left behind (not .venv)
	@rm -rf .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache run spark-warehouse

.venv/ready: requirements.txt pyproject.toml
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
	  || { echo "Heddle needs Python 3.11: install it, or name it with 'make PYTHON=/path/to/python3.11 ...'"; exit 1; }
	@echo "setting up .venv (a minute the first time) ..."
	@test -x $(PY) || "$(PYTHON)" -m venv .venv \
	  || { echo "Python's venv module is missing: on Debian and Ubuntu, 'apt-get install python3.11-venv'"; exit 1; }
	@$(PY) -m uv --version >/dev/null 2>&1 || $(PY) -m pip install -q --disable-pip-version-check uv==$(UV_VERSION)
	@$(PY) -m uv pip sync -q --compile-bytecode requirements.txt
	@$(PY) -m uv pip install -q --no-deps --no-build-isolation -e .
	@touch $@

.venv-docs/ready: .venv/ready docs/requirements.txt
	@echo "setting up .venv-docs ..."
	@$(PY) -m venv --clear --without-pip .venv-docs
	@$(PY) -m uv pip install -q --python .venv-docs/bin/python -r docs/requirements.txt
	@touch $@

# What the benchmarks compare with, on top of .venv: a line that begins with `import` is run when Python starts.
.venv-bench/ready: .venv/ready benchmarks/requirements.txt
	@echo "setting up .venv-bench ..."
	@$(PY) -m venv --clear --without-pip .venv-bench
	@$(PY) -m uv pip install -q --no-deps --python .venv-bench/bin/python -r benchmarks/requirements.txt
	@echo "import site; site.addsitedir('$(CURDIR)/.venv/lib/python3.11/site-packages')" \
	  > .venv-bench/lib/python3.11/site-packages/heddle.pth
	@touch $@

# What follows coverage, on top of .venv: only make hostile wants it.
.venv-hostile/ready: .venv/ready tests/hostile/requirements.txt
	@$(PY) -m venv --clear --without-pip .venv-hostile
	@$(PY) -m uv pip install -q --no-deps --python .venv-hostile/bin/python -r tests/hostile/requirements.txt
	@echo "import site; site.addsitedir('$(CURDIR)/.venv/lib/python3.11/site-packages')" \
	  > .venv-hostile/lib/python3.11/site-packages/heddle.pth
	@touch $@

# Flink beside the others: its versions of numpy, pandas and pyarrow are not Heddle's. Only make evidence wants it.
.venv-flink/ready: .venv/ready benchmarks/requirements-flink.txt
	@echo "setting up .venv-flink ..."
	@$(PY) -m venv --clear --without-pip .venv-flink
	@$(PY) -m uv pip install -q --python .venv-flink/bin/python -r benchmarks/requirements-flink.txt
	@touch $@

.PHONY: help run ui test suite long quick fuzz simulate hostile soak sbom production bench evidence lint format docs warm setup lock clean
