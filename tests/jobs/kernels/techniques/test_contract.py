"""The table of kernels is complete, illegal pairs are refused, and the techniques run as plain Python, too."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import NumbaError

import jobs.kernels.techniques
from jobs.kernels import KERNELS
from jobs.kernels.techniques.stream import make
from optimizer.algebra.aggregates import COMPONENTS
from optimizer.algebra.techniques import CARDS, allowed
from optimizer.errors import HeddleError
from optimizer.windows.window import Window

FOLDER = Path(jobs.kernels.techniques.__file__).parent


def test_every_card_has_a_kernel_and_every_kernel_a_file() -> None:
    assert list(KERNELS) == list(CARDS)
    assert {name for name in CARDS if (FOLDER / f"{name}.py").exists()} == set(CARDS)


def test_every_file_that_defines_a_technique_is_in_the_table() -> None:
    techniques = {path.stem for path in FOLDER.glob("*.py") if "\ndef advance(memory: Memory" in path.read_text()}
    assert techniques == set(KERNELS)


@pytest.mark.parametrize(("technique", "component"), [(t, c) for t in CARDS for c in COMPONENTS if not allowed(t, c)])
def test_illegal_pairs_are_refused_with_what_fits(technique: str, component: str) -> None:
    with pytest.raises(HeddleError) as refusal:
        make(technique, [Window(3, 1)], component)
    fitting = [name for name in CARDS if allowed(name, component)]
    assert technique not in fitting
    assert all(name in str(refusal.value) for name in fitting)
    assert "\n" not in str(refusal.value)


def test_inv_with_max_and_noninv_with_sum_are_illegal() -> None:
    assert not allowed("slick_deque_inv", "max")
    assert not allowed("slick_deque_noninv", "sum")


def test_partials_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(HeddleError, match="count has no partials of float64; give int64"):
        make("panes", [Window(3, 1)], "count", "float64")


@pytest.mark.slow
def test_without_the_jit() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.jobs.kernels.without_jit"], env=environment, check=True
    )


@pytest.mark.parametrize("technique", KERNELS)
def test_no_technique_counts_references(technique: str) -> None:
    module = import_module(f"jobs.kernels.techniques.{technique}")
    compiled = {name: f for name, f in vars(module).items() if hasattr(f, "targetoptions") and name != "run_steps"}
    assert "advance" in compiled
    assert [name for name, f in compiled.items() if f.targetoptions.get("_nrt", True)] == []


def test_a_function_in_place_makes_no_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "makes_an_array.py").write_text(
        "import numpy as np\nfrom jobs.kernels.arrays import compile_in_place\n\n\n"
        "@compile_in_place\ndef double(column):\n    return column * 2\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NumbaError, match="array"):
        import_module("makes_an_array").double(np.arange(3))
