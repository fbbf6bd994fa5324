"""Where compiled kernels are kept: a private folder, named after the code that was compiled.

numba looks only at the file of the function it loads, not at the files of the functions that one calls. A folder per
state of the code keeps a process from running half of yesterday's kernels.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

COMPILED = (  # below the folder that holds `jobs` and `optimizer`
    "jobs/kernels/**/*.py",
    "optimizer/strategies/search/subset_*.py",  # the one place outside the kernels that compiles
)


def cache_folder() -> Path:
    """Return the private folder for compiled kernels and the Java wrapper (numba's cache files are pickles)."""
    here = Path(__file__).resolve().parents[1]
    beside = here.parent / ".cache"
    for folder in (os.environ.get("HEDDLE_CACHE"), beside, Path.home() / ".cache" / "heddle"):
        if folder and _private(Path(folder)):
            return Path(folder)
    return Path(tempfile.mkdtemp(prefix="heddle-"))


def use_kernel_cache() -> None:
    """Tell numba where to keep what it compiles, unless somebody has done so."""
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(cache_folder() / "numba" / _digest())


def warm_mark(columnar: bool) -> Path:
    """Return the file that says that the kernels are compiled: all of them, or those that work on columns."""
    return Path(os.environ["NUMBA_CACHE_DIR"], "warm-columnar" if columnar else "warm")


def is_warm() -> bool:
    """Say whether the kernels that work on columns are compiled, so that a process loads them in a second."""
    return any(warm_mark(columnar).exists() for columnar in (True, False))


def compiled_files() -> list[Path]:
    """List the files whose code numba compiles; a change of any of them names another folder."""
    root = Path(__file__).resolve().parents[2]
    return sorted(path for pattern in COMPILED for path in root.glob(pattern))


def _private(folder: Path) -> bool:
    """Say whether the folder is there now, ours to write into, and nobody else's."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(0o700)
        return os.access(folder, os.W_OK) and not folder.stat().st_mode & 0o022
    except OSError:
        return False


def _digest() -> str:
    digest = hashlib.sha256()
    for path in compiled_files():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
