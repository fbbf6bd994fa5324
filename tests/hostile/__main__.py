"""python -m tests.hostile catalog|page [--minutes 10]: libFuzzer with the coverage of our own packages."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

import atheris

TARGETS = {"catalog": ("catalog_reader", ["optimizer", "sqlglot"]), "page": ("page_parameters", ["plugins"])}
CORPUS = Path("build/hostile")
LONGEST = 4096


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    module, packages = TARGETS[options.target]
    with atheris.instrument_imports(include=packages):
        target = import_module(f"tests.hostile.{module}")
    corpus, kept = CORPUS / options.target, CORPUS / f"{options.target}.words"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed_{number:04d}").write_bytes(seed)
    kept.write_text("".join(f'"{_escape(word)}"\n' for word in target.words() if word))
    limits = [
        f"-max_total_time={round(60 * options.minutes)}",
        f"-max_len={LONGEST}",
        "-timeout=60",
        "-rss_limit_mb=8192",
    ]
    limits += [f"-artifact_prefix={CORPUS}/{options.target}_", f"-dict={kept}", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], target.take)
    atheris.Fuzz()


def _escape(word: str) -> str:
    r"""Return a word as libFuzzer's dictionaries have it.

    >>> _escape('a"é')
    'a\\"\\xC3\\xA9'
    """
    plain = {*range(32, 127)} - {ord('"'), ord("\\")}
    escaped = {ord('"'): '\\"', ord("\\"): "\\\\"}
    return "".join(chr(byte) if byte in plain else escaped.get(byte, f"\\x{byte:02X}") for byte in word.encode())


if __name__ == "__main__":
    main()
