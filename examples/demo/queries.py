"""The catalog of the first run: what the teams of a plant ask of one stream of readings, and of a stream of trades.

    python examples/demo/queries.py > queries.yaml

Each team asks the same few questions of several columns and windows, as teams do; `make run` leaves the catalog
that this writes in run/catalog.
"""

from __future__ import annotations

from collections.abc import Iterator

STREAMS = """streams:
  readings: {source: {format: parquet, path: data/readings}, time: ts, lateness: 5 seconds}
  trades: {source: {format: parquet, path: data/trades}, time: ts, lateness: 2 seconds}
queries:
"""
ENERGIES = ("energy_1", "energy_2", "energy_3")
DASHBOARD = (("1 minute", "10 seconds"), ("5 minutes", "30 seconds"), ("15 minutes", "1 minute"))
FEATURES = (("2 minutes", "20 seconds"), ("10 minutes", "1 minute"), ("30 minutes", "1 minute"))
REPORT = (("15 minutes", "1 minute"), ("1 hour", "5 minutes"))
Query = tuple[str, str, str, str, tuple[str, str]]  # id, aggregate, predicate, key, range and slide


def metrics() -> Iterator[Query]:
    """What the dashboard on the shop floor shows of every machine."""
    for column in (*ENERGIES, "temperature"):
        for aggregate in ("avg", "min", "max", "stddev"):
            for window in DASHBOARD:
                yield f"{column}_{aggregate}_{short(window)}", f"{aggregate}({column})", "", "machine", window


def features() -> Iterator[Query]:
    """What a model reads about machines while they work."""
    for column in ("energy_1", "temperature"):
        for aggregate in ("avg", "max", "stddev"):
            for window in FEATURES:
                name = f"working_{column}_{aggregate}_{short(window)}"
                yield name, f"{aggregate}({column})", "running", "machine", window


def alerts() -> Iterator[Query]:
    """What wakes somebody up: how often a machine was too hot, or in alarm."""
    for limit in (40, 45, 50, 55, 60):
        for window in DASHBOARD[:2]:
            yield f"above_{limit}_{short(window)}", "count(*)", f"temperature > {limit}", "machine", window
    for window in (*DASHBOARD, *REPORT[1:]):
        yield f"alarms_{short(window)}", "count(*)", "alarm", "machine", window


def reports() -> Iterator[Query]:
    """What the plant as a whole has used."""
    for column in ENERGIES:
        for aggregate in ("sum", "avg", "max"):
            for window in REPORT:
                yield f"plant_{column}_{aggregate}_{short(window)}", f"{aggregate}({column})", "", "", window
    for window in (*DASHBOARD, *REPORT[1:]):
        yield f"plant_readings_{short(window)}", "count(*)", "", "", window


def desk() -> Iterator[Query]:
    """What a trading desk watches: a second, smaller stream."""
    for select, name in (
        ("max(price)", "high"),
        ("min(price)", "low"),
        ("avg(price)", "mean"),
        ("sum(volume)", "volume"),
    ):
        for window in DASHBOARD:
            yield f"{name}_{short(window)}", select, "", "symbol", window


def short(window: tuple[str, str]) -> str:
    """Name a window by its range: 5m."""
    number, unit = window[0].split()
    return number + unit[0]


def catalog() -> str:
    """Return the catalog as YAML."""
    groups = {"readings": (metrics, features, alerts, reports), "trades": (desk,)}
    lines = [STREAMS]
    for stream, teams in groups.items():
        for team in teams:
            lines.append(f"  # {team.__doc__}\n")
            lines += [_line(stream, team.__name__, *query) for query in team()]
    return "".join(lines)


def _line(stream: str, owner: str, id: str, select: str, where: str, key: str, window: tuple[str, str]) -> str:
    fields = {"id": id, "stream": stream, "select": f'"{select}"', "where": where, "group_by": key and f"[{key}]"}
    fields |= {"range": window[0], "slide": window[1], "owner": owner}
    return "  - {" + ", ".join(f"{name}: {value}" for name, value in fields.items() if value) + "}\n"


if __name__ == "__main__":
    print(catalog(), end="")  # noqa: T201 (a script's output)
