"""`python -m benchmarks`: list the benchmarks, a line each."""

from __future__ import annotations

import re

import benchmarks


def listed_benchmarks() -> dict[str, str]:
    """Return the benchmarks of the contents page with what each measures, without their parts."""
    page, _, _ = (benchmarks.__doc__ or "").partition("Their parts:")
    return dict(re.findall(r"^- (\w+): (.+)$", page, re.MULTILINE))


if __name__ == "__main__":
    for name, line in listed_benchmarks().items():
        print(f"  make bench NAME={name:<14} {line}")
