"""One Spark for the jobs that the DAGs submit: the first goes through spark-submit itself, the others to a process that
stays, so that a Java and a Python with all they import start twice instead of once per job.

    python -m tests.dags.shared_spark SOCKET       # serves until it is ended

In the PATH of Airflow, the script that `write_submit` makes stands for spark-submit. It hands its arguments and its
output to that process, which runs the job's file as spark-submit does, and ends with the job's exit code.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import socket
import sys
import traceback
from pathlib import Path

from jobs.spark.session import spark_session

REAL = shutil.which("spark-submit", path=str(Path(sys.executable).parent))
SUBMIT = """#!{python}
import json, os, socket, sys

try:
    os.close(os.open({mark!r}, os.O_CREAT | os.O_EXCL))
except FileExistsError:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect({place!r})
        socket.send_fds(line, [json.dumps(sys.argv[1:]).encode()], [1, 2])
        sys.exit(int(line.recv(16) or b"1"))
os.execv({real!r}, ["spark-submit", *sys.argv[1:]])
"""


def write_submit(folder: Path, place: Path) -> Path:
    """Write the script, executable; return it."""
    script = folder / "spark-submit"
    mark = str(folder / "first")
    script.write_text(SUBMIT.format(python=sys.executable, mark=mark, place=str(place), real=REAL))
    script.chmod(0o755)
    return script


def job_of(arguments: list[str]) -> list[str]:
    """Return the job's file and its own arguments, which follow what spark-submit itself is told.

    >>> job_of(["--master", "local[2]", "--conf", "a=b", "/x/jobs/compare.py", "catalog", "--files", "1"])
    ['/x/jobs/compare.py', 'catalog', '--files', '1']
    """
    first = next(at for at, each in enumerate(arguments) if each.endswith(".py"))
    return arguments[first:]


def serve(place: Path) -> None:
    """Run one job after another, each with the output of who asked."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(place))
        door.listen()
        while True:
            line, _ = door.accept()
            with line:
                message, outputs, *_ = socket.recv_fds(line, 1 << 20, 2)
                line.send(str(_run(job_of(json.loads(message)), outputs)).encode())


def _run(job: list[str], outputs: list[int]) -> int:
    """Run a job's file with these as stdout and stderr; return its exit code."""
    spark_session("local[2]")  # Java starts with the output of this process: it would hold that of who asked open
    own = [os.dup(1), os.dup(2)]
    _redirect(outputs)
    sys.argv = job
    try:
        runpy.run_path(job[0], run_name="__main__")
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        _redirect(own)
    return 0


def _redirect(files: list[int]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    for number, file in zip((1, 2), files, strict=True):
        os.dup2(file, number)
        os.close(file)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
