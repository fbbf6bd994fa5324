"""Where a stream's files may be: inside the configured roots, or behind a scheme that Spark reads."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from optimizer.errors import Mistake, show

ROOTS = "HEDDLE_ROOTS"
SCHEMES = ("hdfs", "s3a")


def roots(folder: Path) -> list[Path]:
    """The folders that paths must stay inside of: HEDDLE_ROOTS, or beside the catalog and where one stands."""
    configured = os.environ.get(ROOTS, "")
    if configured:
        return [Path(root).resolve() for root in configured.split(os.pathsep) if root]
    temporary = Path(tempfile.gettempdir()).resolve()
    beside = folder.resolve().parent
    return list(
        dict.fromkeys([beside, Path.cwd().resolve(), *([temporary] if beside.is_relative_to(temporary) else [])])
    )


def locate(written: str, folder: Path) -> str:
    """The path, ready to read; refuses what leaves the roots."""
    if not written or len(written) > 1000 or any(ord(char) < 32 for char in written):
        raise Mistake(f"{show(written)} is no path", "name a file or folder")
    parts = urlsplit(written) if "://" in written or written.startswith("file:") else None
    if parts is None:
        return str(_inside(written, folder))
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return str(_inside(parts.path, folder))
    if parts.scheme not in SCHEMES:
        raise Mistake(f"the scheme {show(parts.scheme)} is refused", f"use a path, file://, {'://, '.join(SCHEMES)}://")
    if ".." in parts.path.split("/") or "@" in parts.netloc:
        raise Mistake(f"{show(written)} is refused", "write it without .. and without a password")
    return written


def _inside(written: str, folder: Path) -> Path:
    allowed = roots(folder)
    try:
        places = [(base / written).resolve() for base in (folder.resolve().parent, Path.cwd())]
        inside = [place for place in places if any(place.is_relative_to(root) for root in allowed)]
        found = [place for place in inside if place.exists()]
    except (OSError, RuntimeError, ValueError):
        raise Mistake(f"{show(written)} is no path", "name a file or folder") from None
    if not inside:
        shown = os.pathsep.join(map(str, allowed))
        raise Mistake(f"{show(written)} is outside the allowed folders", f"set {ROOTS} to more than {shown}")
    return (found or inside)[0]
