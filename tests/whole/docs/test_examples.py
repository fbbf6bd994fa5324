"""The examples of README and docs: Python runs or is read by Airflow, and every `heddle` command is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from typer.main import get_command

from heddle.main import app

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
LINE = re.compile(r"^(?:\$ )?(heddle [^\n]*?)(?:\s+#.*)?$|`(heddle [a-z]+(?: [^`\n]+)?)`", re.M)
COMMANDS = sorted({(page.name, line[1] or line[2]) for page in PAGES for line in LINE.finditer(page.read_text())})


def test_there_are_commands_to_look_at() -> None:
    assert len(COMMANDS) > 40


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_has_the_options_that_a_page_gives_it(page: str, line: str) -> None:
    words = shlex.split(line.split(" | ")[0])[1:]
    command: Any = get_command(app)  # of the click that is inside typer
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        name = words.pop(0).strip(",")
        assert name in command.commands, f"{page}: {line}"
        command = command.commands[name]
    parser = command.make_parser(typer.Context(command))
    parser.parse_args([*words, "x"])  # raises an error for an option that there is not; a text may leave a value out


def blocks(page: str) -> list[str]:
    """The Python of a page."""
    return PYTHON.findall((ROOT / page).read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_is_python(page: Path) -> None:
    for block in PYTHON.findall(page.read_text()):
        compile(block, page.name, "exec")


def test_the_readme_answers_from_python() -> None:
    """Those of its blocks that need neither Spark nor a warehouse."""
    times = pd.date_range("2026-01-01", periods=600, freq="1min")
    events = pd.DataFrame({"ts": times, "machine": "m1", "x": np.arange(600.0)})
    names: dict[str, Any] = {"events": events, "values": np.arange(100_000.0)}
    run, optimize, sliding = blocks("README.md")[:3]
    exec(run, names)
    exec(optimize, names)
    exec(sliding, names)


def test_the_other_pages_answer_from_python() -> None:
    times = pd.date_range("2026-01-01", periods=600, freq="1min")
    trips = pd.DataFrame({"ts": times, "zone": "z1", "fare": np.arange(600.0)})
    names: dict[str, Any] = {"trips": trips}
    exec(blocks("docs/from-python.md")[0], names)
    assert len(names["answers"]["busiest"])
    edges = blocks("docs/edges.md")[0]
    names = {}
    exec(edges, names)
    for line, value in re.findall(r"^(\w+\(.*\)) +# (\S+?\(.*?\)|\[.*?\])", edges, re.M):
        assert repr(eval(line, names)) == value


def test_a_wrong_option_would_be_noticed() -> None:
    with pytest.raises(Exception, match="stratgy"):
        test_a_command_has_the_options_that_a_page_gives_it("a page", "heddle plan CATALOG --stratgy shared")


@pytest.mark.airflow
def test_the_dags_of_the_airflow_page_are_dags() -> None:
    from airflow.sdk.definitions.dag import DAG

    whole = [block for block in blocks("docs/airflow.md") if "@dag" in block]
    assert whole
    for block in whole:
        names: dict[str, Any] = {}
        exec(compile(block, "airflow.md", "exec"), names)
        made = [
            value() for value in names.values() if callable(value) and getattr(value, "__name__", "").startswith("use_")
        ]
        assert all(isinstance(each, DAG) and each.tasks for each in made)
        assert made


@pytest.mark.airflow
def test_the_example_of_ones_own_dag_has_both_operators() -> None:
    import runpy

    names = runpy.run_path(str(ROOT / "examples" / "airflow" / "own_dag.py"))
    tasks = names["own_dag"]().tasks
    assert {"HeddleReplanOperator", "HeddleEvaluateOperator"} <= {type(task).__name__ for task in tasks}
