"""Run with NUMBA_DISABLE_JIT=1: every technique as plain Python, on small streams, against the oracle."""

from __future__ import annotations

from jobs.kernels import KERNELS
from optimizer.algebra.techniques import allowed
from tests.jobs.kernels.streams import answered, expected
from tests.jobs.kernels.techniques.test_conformance import assert_equal

COMPONENTS = [("sum", "float64"), ("sum", "int64"), ("max", "float64"), ("moments", "float64"), ("last", "int64")]


def main() -> None:
    for technique in KERNELS:
        for component, kind in COMPONENTS:
            if allowed(technique, component):
                for stream in ("paper", "long silence", *(["nan and infinities"] if kind == "float64" else [])):
                    got, _ = answered(technique, stream, component, kind, (2,))
                    assert_equal(got, expected(stream, component, kind), 1e-12 if component == "moments" else 0.0)


if __name__ == "__main__":
    main()
