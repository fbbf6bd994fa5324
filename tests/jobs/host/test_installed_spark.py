"""Where pyspark is imported from: its compiled package, or the archive of a Spark that is somewhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from jobs.host.installed_spark import without_archive

ROOT = Path(__file__).parents[3]


def make_spark(folder: Path) -> str:
    """A folder with a pyspark in it; the path of its archive."""
    (folder / "pyspark" / "python" / "lib").mkdir(parents=True)
    (folder / "pyspark" / "__init__.py").touch()
    archive = folder / "pyspark" / "python" / "lib" / "pyspark.zip"
    archive.touch()
    return str(archive)


def test_only_the_archive_of_a_package_on_the_path_is_left_out(tmp_path: Path) -> None:
    own, other = make_spark(tmp_path / "own"), make_spark(tmp_path / "other")
    packages = str(tmp_path / "own")
    assert without_archive(["", other, own, packages]) == ["", other, packages]
    assert without_archive([own, "more"]) == [own, "more"]
    (tmp_path / "link").symlink_to(tmp_path / "own")
    assert without_archive([str(tmp_path / "link" / "pyspark" / "python" / "lib" / "pyspark.zip"), packages]) == [
        packages
    ]


def test_workers_import_the_compiled_package() -> None:
    package = find_spec("pyspark")
    assert package
    assert package.origin
    archive = Path(package.origin).parent / "python" / "lib" / "pyspark.zip"
    program = "import jobs.spark.worker_daemon, pyspark; print(pyspark.__file__)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(archive), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()) == Path(package.origin)
