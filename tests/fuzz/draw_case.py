"""Draws whole cases from a seed: the same seed gives the same case."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from optimizer.algebra.techniques import CARDS
from optimizer.catalog.sql.expressions import quote
from optimizer.strategies import STRATEGIES
from optimizer.windows.window import SLICINGS
from tests.fuzz.case import rename_columns
from tests.fuzz.meetings import (
    MORE_ZONES,
    PACES,
    SHIFTS,
    condition,
    escape,
    kind_of_answer,
    meet_others,
    odd_folder_names,
)
from tests.fuzz.ways import WAYS
from tests.fuzz.whole_case import Evaluation, Statement, WholeCase
from tests.fuzz.write_events import FOLDER_VALUES, WITH_BYTES, Layout
from tests.jobs.engine.events.language.writer import COLUMNS, Writer
from tests.worlds.names import ODD_NAMES
from tests.worlds.streams import LATENESS, ORIGINS, SECOND, Row
from tests.worlds.warehouse import STREAM

SEARCHES = tuple(name for name in STRATEGIES if name != "exhaustive")  # which takes a dozen queries
ZONES = ("UTC", "UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata")
LANES = (*["local"] * 9, "auto", "file", "frame")  # the first costs a fraction of the others
# aggregates by the kinds of their arguments in the writer's grammar; T is the time
ANY, NUMBER, ORDERED = "WRDBSIEY", "WRN", "WRDSIEBY"
TAKES: dict[str, str] = {
    "count({x})": ANY,
    "count(*)": "",
    "min({x})": ORDERED,
    "max({x})": ORDERED,
    "count(DISTINCT {x})": ANY,
    "approx_count_distinct({x})": ANY,
    "max_by({x}, {ts})": ANY,
    "min_by({x}, {ts})": ANY,
    "sum({x})": "WRDN",
    "avg({x})": "WRDN",
    "try_sum({x})": "WRD",
    "try_avg({x})": "WRD",
    "sum(DISTINCT {x})": "WR",
    "avg(DISTINCT {x})": "WR",
    "sum(if(b, {x}, NULL))": "WRD",
    "exp(avg(ln({x})))": "z",
    "count(DISTINCT if(b, {x}, NULL))": "WSY",
    "median({x})": "WR",
    "percentile({x}, 0.37)": "WR",
    "percentile({x}, array(0.0, 0.5, 1.0))": "WR",
    "percentile_cont(0.9) WITHIN GROUP (ORDER BY {x})": "WR",
    "percentile_disc(0.25) WITHIN GROUP (ORDER BY {x})": "WR",
    "percentile_cont(0.2) WITHIN GROUP (ORDER BY {x} DESC)": "WR",
    "percentile_disc(0.7) WITHIN GROUP (ORDER BY {x} DESC)": "WR",
    "percentile_approx({x}, 0.5)": "WR",
    "bool_and({x})": "B",
    "bool_or({x})": "B",
    "count_if({x})": "B",
    "bit_and({x})": "W",
    "bit_or({x})": "W",
    "bit_xor({x})": "W",
    "max({x}) - min({x})": "z",
    "collect_list({x})": "WSE",
    "collect_set({x})": "WSE",
    "count(DISTINCT {x}, k)": "WS",
    **{f"{name}({{x}})": "z" for name in ("var_pop", "var_samp", "stddev_pop", "stddev_samp", "skewness", "kurtosis")},
    **{f"{name}({{x}}, j)": "z" for name in ("covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept")},
    **{f"regr_{name}({{x}}, m)": "z" for name in ("r2", "sxy", "avgx", "avgy", "sxx", "count", "syy")},
}
WITHOUT_FILTER = {"max({x}) - min({x})", "exp(avg(ln({x})))"}
KEYS = ("t", "d", "b", "a", "x", "p", "u", "s", "l", "f", "w", "h", "q")
OF_KIND = {"part": "W", "wide": "W", "word": "S", "day": "E"}  # columns of folders in the writer's grammar
ODD_FILES = ("a b", "p*", "x[1]", "100%", "é", "a=1", "q?", "{a,b}", "a\\b", "a:b", "#1")
Files = tuple[tuple[str, ...], dict[str, str], tuple[str, ...]]
BINARY = ("parquet", "orc")  # formats with types of their own
TIMES = {
    "parquet": ("instants", "instants", "instants", "milliseconds", "local times", "INT96"),
    "orc": ("instants", "local times"),
    **dict.fromkeys(("csv", "json"), ("instants", "local times", "texts")),
}
STEADY = ("z", "j", "m")  # columns whose values are neither huge nor tiny
EXTREME = {"a": 127, "h": 32767, "i": 1 << 20, "n": 1 << 41, "x": 1e15, "y": 1e15}


class Drawing:
    """Draws the parts of one case."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.pick = random.Random(seed)
        self.meet = random.Random(f"meetings of {seed}")  # so that what is drawn besides leaves the rest as it was
        self.writer = Writer(seed)
        self.pace = self.meet.choice(PACES)

    def case(self) -> WholeCase:
        """Return the case of the seed."""
        pick = self.pick
        lateness, zone = pick.choice(LATENESS) * self.pace, pick.choice(ZONES)
        corrections = pick.choice([0, 0, 0, 0, 100_000 * SECOND]) * self.pace
        batches = self.batches(lateness + (40 * SECOND * self.pace if corrections else 0))
        is_early = any(row["ts"] is not None and row["ts"] < 0 for rows in batches for row in rows)
        layout = self.layout(len(batches), is_early)
        if self.pace > 1 and zone == "UTC":
            zone = self.meet.choice(MORE_ZONES)
        if layout.time == "local times" or "modifiedAfter" in layout.options:
            zone = "UTC"  # local times have none; Spark moves the time of a file by that of the zone, twice
        statements = {f"q{number}": self.statement(layout) for number in range(pick.choice([3, 4, 5, 6]))}
        technique = pick.choice(["auto", "auto", "auto", *CARDS])
        strategies = tuple(pick.choice(SEARCHES) for _ in range(pick.choice([1, 1, 1, 2, 3])))
        lane = pick.choice(LANES)
        evaluation = Evaluation(
            lane,
            strategies if len(batches) >= len(strategies) else strategies[:1],
            technique,
            pick.choice(list(SLICINGS)),
            pick.random() < 0.5,
            pick.choice([0, 1, 1, 2]),
            pick.choice([1, 2, 3]),
            tuple(sorted(pick.sample(list(WAYS), pick.choice([0, 0, 1, 1, 2])))),
        )
        case = WholeCase(self.seed, layout, batches, lateness, zone, statements, evaluation, corrections)
        return meet_others(case, self.meet)

    def batches(self, disorder: int) -> tuple[tuple[Row, ...], ...]:
        """Return events at times of their own, in any order within so many microseconds, cut into files."""
        pick = self.pick
        origin, count = pick.choice(ORIGINS), pick.choice([3, 30, 60, 120, 240])
        if self.pace > 1:
            origin = self.meet.choice(SHIFTS) - 30 * SECOND * self.pace
        tame = pick.random() < 0.8
        times: set[int] = set()
        while len(times) < count:
            jitter, gap = pick.choice([0, 0, 0, 1, -1, 333_333]), pick.choice([0] * 15 + [4_000])
            times.add(origin + pick.randrange(240) * SECOND // 4 * self.pace + jitter + gap * SECOND)
        # whole milliseconds are what every type of time can hold
        rows = [self.row(time // 1000 * 1000, tame) for time in times]
        rows = list({row["ts"]: row for row in rows}.values())
        rows.sort(key=lambda row: row["ts"] + pick.randrange(disorder + 1))
        for _ in range(pick.choice([0, 0, 2])):
            rows.insert(pick.randrange(len(rows) + 1), {**self.row(0, tame), "ts": None})
        cuts = sorted(pick.randrange(len(rows) + 1) for _ in range(pick.choice([0, 1, 2, 4])))
        return tuple(tuple(rows[a:b]) for a, b in pairwise([0, *cuts, len(rows)]))

    def row(self, time: int, tame: bool) -> Row:
        """Return an event; a tame one has no number whose sums overflow."""
        row: Row = {"ts": time}
        for name, (_, values) in WITH_BYTES.items():
            most = EXTREME.get(name)
            fitting = [v for v in values if not (tame and most and isinstance(v, int | float) and not abs(v) < most)]
            row[name] = self.pick.choice(fitting) if self.pick.random() > 0.08 else None
        return row

    def layout(self, count: int, is_early: bool) -> Layout:
        """Return how files and columns are named and written; ORC of Arrow has no early times as Java reads them."""
        pick = self.pick
        format = pick.choice(["parquet"] * 6 + ["parquet" if is_early else "orc", "csv", "json"])
        columns = list(WITH_BYTES if format in BINARY else COLUMNS)
        pick.shuffle(columns)
        names = {name: name for name in ("ts", *columns)}
        if pick.random() < 0.4:
            refused = "\t`" if format == "orc" else "\t"  # by Spark's reader of ORC
            usable = {name.lower(): name for name in ODD_NAMES if not {*refused} & {*name} and name != "window"}
            names = dict(zip(names, pick.sample(list(usable.values()), len(names)), strict=True))
        self.folder_names = odd_folder_names(self.meet, names.values())
        files, options, folders = self.files(count, format, names["j"] == "j")
        if pick.random() < 0.1 and count > 2:
            options["modifiedAfter"] = "2020-09-13T12:26:40Z"  # the first file is left out
        time = pick.choice(TIMES[format])
        folder_names = {name: self.folder_names[name] for name in folders}
        rows_per_group, dictionaries = pick.choice([1 << 20, 7]), pick.random() < 0.7
        layout = Layout(names, tuple(columns), time, files, options, rows_per_group, dictionaries, format, folder_names)
        return layout if format in BINARY else replace(layout, options=options | self.text_options(layout))

    def text_options(self, layout: Layout) -> dict[str, str]:
        """Return options of files that are texts."""
        pick, options = self.pick, {"schema": layout.schema_text()}
        if layout.format == "csv":
            options |= pick.choice([{}, {"header": "true"}]) | pick.choice([{}, {"sep": ";"}, {"sep": "|"}])
            options |= pick.choice([{}, {"nullValue": "NULL"}, {"nullValue": "a"}, {"encoding": "ISO-8859-1"}])
            options |= pick.choice([{}, {"ignoreLeadingWhiteSpace": "true"}, {"comment": "#"}, {"multiLine": "true"}])
        return options

    def files(self, count: int, format: str, has_plain_names: bool) -> Files:
        """Return the names of files below their folder, the options by which they are listed, and the columns that
        folders name."""
        pick, options = self.pick, dict[str, str]()
        style = pick.choice(["plain", "plain", "plain", "odd", "nested", "folders", "folders", "glob"])
        files = [f"part-{number:03d}.{format}" for number in range(count)]
        folders: list[str] = []
        if style == "odd":
            files = [f"{pick.choice(ODD_FILES)}{number}.{format}" for number in range(count)]
        elif style == "nested":
            files = [f"{pick.choice(['', 'below/', 'a/b c/'])}{n}.{format}" for n in range(count)]
            options["recursiveFileLookup"] = "true"
        elif style == "folders":
            usable = [name for name in FOLDER_VALUES if has_plain_names or name != "j"]
            folders = pick.sample(usable, pick.choice([1, 1, 2]))
            for name in reversed(folders):
                files = [
                    f"{escape(self.folder_names[name])}={pick.choice(FOLDER_VALUES[name])}/{file}" for file in files
                ]
        elif style == "glob":
            files = [name if pick.random() < 0.7 else f"other-{name}" for name in files]
            options["pathGlobFilter"] = pick.choice(["part-*", "part-[0-9]*", "{part,prt}-???.*"])
        return tuple(files), options, tuple(folders)

    def statement(self, layout: Layout) -> Statement:
        """Return a statement in SQL."""
        pick = self.pick
        names = dict(layout.names) | dict(layout.folder_names)
        if layout.time != "local times" and self.meet.random() < 0.4:
            names["u"] = names["ts"]  # expressions over the time itself
        usable = [*(key for key in KEYS if key in layout.columns), *layout.folders]
        keys = pick.sample(usable, pick.choice([0, 1, 1, 2, 3]))
        key_names = dict(layout.names) | dict(layout.folder_names)
        slide = pick.choice([1, 2, 3, 4, 6, 10]) * SECOND // 2 * self.pace
        rest = pick.choice([0, 0, slide // 3 // 1000 * 1000, slide - 1000])
        length = pick.choice([1, 1, 2, 5]) * slide + rest
        offset = pick.choice([0, 0, 1000, slide // 2, -1000, 1 - slide])
        where = self.expression("B", names) if pick.random() < 0.5 else ""
        calls = [self.call(layout, names) for _ in range(pick.choice([1, 1, 2, 3, 4]))]
        time = quote(names["ts"])
        window = f"window({time}, '{length} microseconds', '{slide} microseconds', '{offset} microseconds')"
        if length == slide and not offset and pick.random() < 0.5:
            window = f"window({time}, '{length} microseconds')"
        grouped = [quote(key_names[key]) for key in keys]
        columns = [f"{text} AS g{n}" for n, text in enumerate(grouped)]
        columns += ["window.start AS w", *pick.choice([[], [], ["window.end AS e"], ["window"]])]
        columns += [f"{call} AS c{n}" for n, (call, _, _, _) in enumerate(calls)]
        pick.shuffle(columns)
        having = self.having(calls[0][0], grouped)
        kind = kind_of_answer(*calls[0][1:3], [quote(names["p"]), quote(names["q"])])
        if not having and self.meet.random() < 0.3:
            having = condition(self.meet, kind, calls[0][0])
        alert = condition(self.meet, kind, "") if self.meet.random() < 0.3 else ""
        text = f"SELECT {', '.join(columns)} FROM {STREAM}{f' WHERE {where}' if where else ''}"
        groups = [*grouped, window]
        pick.shuffle(groups)
        text += f" GROUP BY {', '.join(groups)}{f' HAVING {having}' if having else ''}"
        features = [
            "where" if where else "no where",
            "offset below zero" if offset < 0 else "offset" if offset else "no offset",
            "uneven range" if length % slide else "even range",
            "having" if having else "no having",
            "alert" if alert else "no alert",
            "the time in expressions" if names["u"] == names["ts"] else "the time in windows",
            *(f"key of {WITH_BYTES[key][0]}" if key in layout.columns else f"key {key} of a folder" for key in keys),
        ]
        asked = tuple((name, x, only) for _, name, x, only in calls)
        return Statement(text, length, len(keys), asked, tuple(features), alert)

    def having(self, call: str, keys: list[str]) -> str:
        """Return a condition over what a statement selects, or none."""
        conditions = [f"{call} IS NOT NULL", "c0 IS NULL", *(f"{key} IS NOT NULL" for key in keys)]
        if call.startswith("count("):
            conditions += [f"{call} BETWEEN 1 AND 3", "c0 > 1"]
        return self.pick.choice(conditions) if self.pick.random() < 0.2 else ""

    def call(self, layout: Layout, names: Mapping[str, str]) -> tuple[str, str, str, str]:
        """Return an aggregate: its text, name, the argument that it adds up, and filter."""
        form = self.pick.choice(list(TAKES))
        kinds = TAKES[form] if "w" in layout.columns else TAKES[form].replace("Y", "")
        x = "*" if not kinds else quote(names[self.pick.choice(STEADY)]) if kinds == "z" else ""
        x = x or self.argument(self.pick.choice(kinds), layout, names)
        form_named = form.replace(", j)", f", {quote(names['j'])})").replace(", m)", f", {quote(names['m'])})")
        form_named = form_named.replace(", k)", f", {quote(names['t'])})").replace("if(b,", f"if({quote(names['b'])},")
        call = form_named.format(x=x, ts=quote(names["ts"]))
        only = self.expression("B", names) if form not in WITHOUT_FILTER and self.pick.random() < 0.25 else ""
        name = (
            form.partition("(")[0] + (" DISTINCT" if "DISTINCT" in form else "") + (" DESC" if " DESC" in form else "")
        )
        added = quote(names["m"]) if name in ("regr_sxx", "regr_avgx") else x
        return (f"{call} FILTER (WHERE {only})" if only else call), name, added, only

    def argument(self, kind: str, layout: Layout, names: Mapping[str, str]) -> str:
        """Return an argument of a kind; at times, of any, a column that folders name."""
        if kind == "Y":
            return quote(names["w"])
        if kind in "WSE" and layout.folders and self.pick.random() < 0.5:
            fitting = [quote(names[name]) for name in layout.folders if OF_KIND.get(name) == kind]
            return self.pick.choice(fitting) if fitting else self.expression(kind, names)
        return self.expression(kind, names)

    def expression(self, kind: str, names: Mapping[str, str]) -> str:
        """Return an expression of a kind of the writer's grammar."""
        depth = self.pick.choice([0, 0, 1, 1, 2])
        return rename_columns(self.writer.write(kind, depth), names)


def draw_case(seed: int) -> WholeCase:
    """Return the case of a seed."""
    return Drawing(seed).case()
