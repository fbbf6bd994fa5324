"""Where the platform keeps things: one place for DAGs, commands and pages, read from the environment.

HEDDLE_HOME       run                                everything below is inside it unless it says otherwise
HEDDLE_CATALOG    $HEDDLE_HOME/catalog               the catalog's folder
HEDDLE_WAREHOUSE  $HEDDLE_HOME/warehouse             state, results and audits of every stream
HEDDLE_TRACKING   sqlite:///$HEDDLE_HOME/tracking/mlflow.db    where MLflow keeps runs and plans; may be a server
HEDDLE_ARTIFACTS  $HEDDLE_HOME/tracking/artifacts    where it keeps files; a server decides for itself
HEDDLE_KEEP_RUNS  90                                 days after which MLflow's runs are deleted by replan; 0: never
HEDDLE_ALERTS     log                                where alerts go (say.py)
HEDDLE_DEADLINE   30                                 minutes after which a run of heddle_evaluate is late, and told so
HEDDLE_WATCH      0                                  seconds between looks at folders of events; 0: by the clock alone
HEDDLE_ROOTS      home, warehouse, beside the catalog   folders, parted as in PATH, that paths stay inside of
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from optimizer.errors import HeddleError

SCHEMES = ("hdfs://", "s3a://")


BACKFILLS = "backfills"  # below the home: the warehouses that the DAG heddle_backfill computes past intervals into


@dataclass(frozen=True)
class Settings:
    """Where the platform keeps things. Paths are absolute."""

    home: str
    catalog: str
    warehouse: str
    tracking: str
    artifacts: str
    roots: tuple[str, ...]

    def below(self, *names: str) -> Path:
        """Return a path inside the home, and make the path's folder."""
        path = Path(self.inside(str(Path(self.home, *names))))
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def inside(self, path: str) -> str:
        """Return the path in full; refuse, in one line, one that leaves the roots."""
        if path.startswith(SCHEMES):
            if ".." in path.split("/"):
                raise HeddleError(f"{path}: is refused; write it without ..")
            return path
        full = Path(path).resolve()
        if not any(full.is_relative_to(root) for root in self.roots):
            raise HeddleError(f"{path}: is outside {os.pathsep.join(self.roots)}; HEDDLE_ROOTS allows more")
        return str(full)


def settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings that an environment says."""
    home = Path(environment.get("HEDDLE_HOME") or "run").resolve()

    def value_of(name: str, default: str) -> str:
        return environment.get(f"HEDDLE_{name}") or default

    catalog, warehouse = value_of("CATALOG", str(home / "catalog")), value_of("WAREHOUSE", str(home / "warehouse"))
    roots = [root for root in environment.get("HEDDLE_ROOTS", "").split(os.pathsep) if root]
    own = [str(home), warehouse, str(Path(catalog).parent)]
    by_environment = Settings(
        str(home),
        catalog,
        warehouse,
        value_of("TRACKING", f"sqlite:///{home / 'tracking' / 'mlflow.db'}"),
        value_of("ARTIFACTS", str(home / "tracking" / "artifacts")),
        tuple(str(Path(root).resolve()) for root in roots or own if not root.startswith(SCHEMES)),
    )
    return replace(by_environment, catalog=by_environment.inside(catalog), warehouse=by_environment.inside(warehouse))


def number_setting(name: str, default: float, environment: Mapping[str, str] = os.environ) -> float:
    """Return a setting that is a number of 0 or more; refuse, in one line, what is none.

    >>> number_setting("HEDDLE_WATCH", 0, {"HEDDLE_WATCH": "30"}), number_setting("HEDDLE_WATCH", 0, {})
    (30.0, 0)
    """
    text = environment.get(name, "")
    try:
        number = float(text) if text else default
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise HeddleError(f"{name}: {text!r} is no number of 0 or more")
    return number
