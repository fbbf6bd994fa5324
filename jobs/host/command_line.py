"""One typer signature per job, shared by the `heddle` command and by the job that spark-submit runs.

    def make_request(folder: Folder, lane: Annotated[str, typer.Option(help="...")] = "auto") -> Request: ...

    @takes(make_request)
    def evaluate(request: Request, report: Annotated[str, typer.Option()] = "") -> dict[str, Any]: ...

`evaluate` has the options of `make_request` and `--report`; what `make_request` returns is its first argument.
"""

from __future__ import annotations

import errno
import functools
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from jobs.host.say import say_to_stderr
from jobs.host.spark_runtime import prefer_installed_spark
from optimizer.errors import HeddleError, UnreachableError

TROUBLE = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # with a disk
MISTAKE = 2  # the exit code of a user's mistake
TRY_AGAIN = 75  # the exit code of a submitted job whose trouble may pass: sysexits.h calls it a temporary failure
Command = Callable[..., Any]
Folder = Annotated[Path, typer.Argument(metavar="CATALOG", help="The catalog's folder.")]
Rate = Annotated[float | None, typer.Option(help="Events per second; measured when left out.")]
Cost = Annotated[str, typer.Option(help="What a plan has few of: seconds of CPU here, or the papers' operations.")]
Keys = Annotated[float | None, typer.Option(help="Keys active in a slice; measured when left out.")]


def takes(make: Command, **defaults: Any) -> Callable[[Command], Command]:
    """Put the options of `make`, some with other defaults, in place of a command's first parameter."""
    shared = inspect.signature(make).parameters
    options = [_keyword(make, option, defaults.get(name, option.default)) for name, option in shared.items()]

    def decorate(command: Command) -> Command:
        _, *own = inspect.signature(command).parameters.values()
        every = [*options, *(_keyword(command, option, option.default) for option in own)]

        @functools.wraps(command)
        def call(**values: Any) -> Any:
            shared_value = make(**{name: values.pop(name) for name in shared})
            return command(shared_value, **values)

        call.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]  # typer reads it
        call.__annotations__ = {option.name: option.annotation for option in every}
        return call

    return decorate


def _keyword(owner: Command, option: inspect.Parameter, default: Any) -> inspect.Parameter:
    """Return the option as a keyword: one without a default may then follow one that has a default.

    Annotations are texts here, and each is evaluated alone: the type that `make` returns is heavy to import, so that
    it has a name only while types are checked.
    """
    text = option.annotation
    kind = eval(text, owner.__globals__) if isinstance(text, str) else text  # type: ignore[attr-defined]
    return option.replace(kind=inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def save_text(out: Path, text: str) -> None:
    """Write a file that a user has named, whole or not at all."""
    waiting = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        waiting.write_text(text, encoding="utf-8")
        waiting.replace(out)
    except OSError as error:
        waiting.unlink(missing_ok=True)
        raise HeddleError(f"{out}: cannot be written ({error.strerror}); choose another place") from error


def say_next(what: str) -> None:
    """Say what to do next, as the last line of a command."""
    typer.echo(f"Next: {what}")


def run_job(job: Command) -> None:
    """Run a submitted job by this process's command line; what it returns is printed as one line of JSON."""

    @functools.wraps(job)
    def report_job(**values: Any) -> None:
        report = job(**values)
        if report is not None:
            sys.stdout.write(json.dumps(report) + "\n")

    prefer_installed_spark()  # jobs import pyspark when they run
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(report_job)
    run_app(app, TRY_AGAIN)


def ended_by_mistake(hook: Any) -> bool:
    """Say whether the process that Airflow's hook has submitted a job by ended by a user's mistake: the same job would
    end so again. Where the driver runs on a cluster, the process does not tell."""
    process = getattr(hook, "_submit_sp", None)  # the hook tells the exit code nowhere else but in a text
    return getattr(process, "returncode", None) == MISTAKE


def run_app(app: typer.Typer, passing: int = MISTAKE) -> None:
    """Run a command line; a user's mistake, or a disk's trouble, becomes its lines on stderr and exit code 2.

    Trouble that may pass has an exit code of its own, where somebody can try again."""
    code = passing
    try:
        code = app(standalone_mode=False) or 0  # commands return nothing; one that ends itself, its exit code
    except typer.TyperException as error:
        if error.format_message():  # else it was a command alone, whose help is there already
            say_to_stderr(_usage_text(error))
        code = MISTAKE
    except UnreachableError as error:
        say_to_stderr(str(error))
    except HeddleError as error:
        say_to_stderr(str(error))
        code = MISTAKE
    except OSError as error:
        if error.errno not in TROUBLE:
            raise
        where = f"{error.filename}: " if error.filename else ""
        reason = str(error.strerror).splitlines()[0]
        say_to_stderr(f"{where}{reason}; free some space or mend the folder, then run again")
    sys.exit(code)


def _usage_text(error: typer.TyperException) -> str:
    """Return what is wrong with a command line, and where its options are listed, in one line."""
    context = getattr(error, "ctx", None)
    wrong = " ".join(error.format_message().split()).rstrip(".")
    wrong = wrong.partition(", unable to parse")[0]  # how a number is read is no matter of the user's
    return f"{wrong}{' ' if wrong.endswith('?') else '; '}{context.command_path} --help lists all" if context else wrong
