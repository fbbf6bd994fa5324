"""Generated events: the same by seed whatever the files, of the promised shape, as dirty as asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from jobs.generate import STREAMS, Options, generate
from jobs.generate.draws import BLOCK, LATE_BY, OUT_OF_ORDER_BY, SECOND, START
from jobs.generate.sensors import SCHEMA as SENSORS
from jobs.generate.trades import SCHEMA as TRADES
from jobs.generate.trades import close, index

SCHEMAS = {"sensors": SENSORS, "trades": TRADES}
DIRTY = {"gaps": 0.2, "out_of_order": 0.1, "late": 0.05, "nulls": 0.1, "nan": 0.05, "infinities": 0.05}


def events(stream: str, **options: Any) -> pa.Table:
    return pa.concat_tables(STREAMS[stream](Options(**options)))


def times(table: pa.Table) -> Any:
    return table["ts"].to_numpy().view(np.int64)


@pytest.mark.parametrize("stream", STREAMS)
def test_files_do_not_change_events(stream: str, tmp_path: Path) -> None:
    found = []
    for file_events in (100_000, 7_001, 10_000_000):
        folder = tmp_path / str(file_events)
        parts = generate(stream, Options(20_000, seed=4, key_skew=0.5, file_events=file_events, **DIRTY), folder)
        assert parts == sorted(folder.glob("part-*.parquet"))
        assert [pq.read_metadata(part).num_rows for part in parts[:-1]] == [file_events] * (len(parts) - 1)
        found.append(pa.concat_tables(pq.read_table(part) for part in parts))
    # as bytes, so that NaN equals NaN
    assert len({tuple(map(str, table.to_pylist())) for table in found}) == 1
    assert found[0].schema == SCHEMAS[stream]


@pytest.mark.parametrize("stream", STREAMS)
def test_a_longer_stream_starts_the_same(stream: str) -> None:
    short, long = events(stream, events=1000, seed=2), events(stream, events=BLOCK + 1000, seed=2)
    assert long.num_rows == BLOCK + 1000
    assert long.slice(0, 1000).equals(short)
    assert not events(stream, events=1000, seed=3).equals(short)
    assert (np.diff(times(long)) >= 0).all()


@pytest.mark.parametrize("stream", STREAMS)
def test_spark_reads_the_same(spark: SparkSession, stream: str, tmp_path: Path) -> None:
    generate(stream, Options(3000, file_events=1000, nulls=0.1), tmp_path)
    frame = spark.read.parquet(str(tmp_path))
    kinds = {"double": "double", "int64": "bigint", "string": "string", "bool": "boolean"}
    expected = [(field.name, kinds.get(str(field.type), "timestamp")) for field in SCHEMAS[stream]]
    assert frame.dtypes == expected
    seen = sorted(row.t for row in frame.selectExpr("unix_micros(ts) AS t").collect())
    assert seen == sorted(times(pq.read_table(tmp_path)).tolist())


@pytest.mark.parametrize("stream", STREAMS)
def test_shares_are_as_asked(stream: str) -> None:
    table = events(stream, events=50_000, nulls=0.1, nan=0.05, infinities=0.02)
    assert table["ts"].null_count == 0
    for name in table.column_names[1:]:
        assert table[name].null_count / 50_000 == pytest.approx(0.1, abs=0.01)
    for field in (field for field in SCHEMAS[stream] if pa.types.is_floating(field.type)):
        values = table[field.name].drop_null()
        assert pc.sum(pc.is_nan(values)).as_py() / len(values) == pytest.approx(0.05, abs=0.01)
        assert pc.sum(pc.is_inf(values)).as_py() / len(values) == pytest.approx(0.02, abs=0.01)


@pytest.mark.parametrize("stream", STREAMS)
def test_disorder_is_as_asked(stream: str) -> None:
    turn = times(events(stream, events=50_000))
    behind = turn - times(events(stream, events=50_000, out_of_order=0.1, late=0.03))
    assert (behind >= 0).all()
    late = behind >= LATE_BY[0]
    assert late.mean() == pytest.approx(0.03, abs=0.005)
    assert ((behind > 0) & ~late).mean() == pytest.approx(0.1, abs=0.01)
    assert behind[~late].max() < OUT_OF_ORDER_BY


@pytest.mark.parametrize("rate", [100.0, 5000.0, 0.5])
def test_rate_and_gaps(rate: float) -> None:
    steady = times(events("sensors", events=20_000, rate=rate))
    assert steady[0] == START
    assert (steady[-1] - START) / SECOND == pytest.approx(20_000 / rate, rel=0.01)
    gapped = times(events("sensors", events=20_000, rate=rate, gaps=0.5))
    assert gapped[-1] - START == pytest.approx(2 * (steady[-1] - START), rel=0.1)
    silence = np.diff(gapped).max() - np.diff(steady).max()
    assert silence == pytest.approx(min(10, 2000 / rate) * SECOND, rel=0.01)


def test_keys_and_their_skew() -> None:
    in_turn = events("sensors", events=10_000, keys=4)["machine"].to_pylist()
    assert in_turn[:5] == ["m01", "m02", "m03", "m04", "m01"]
    counts = events("trades", events=50_000, keys=50, key_skew=1.0)["symbol"].value_counts().to_pylist()
    sizes = {row["values"]: row["counts"] for row in counts}
    assert len(sizes) == 50
    assert sizes["AAAA"] == pytest.approx(2 * sizes["AAAB"], rel=0.1)


def test_sensors_have_states() -> None:
    table = events("sensors", events=100_000)
    assert 0.8 < pc.mean(table["running"]).as_py() < 0.95
    assert 0 < pc.mean(table["alarm"]).as_py() < 0.01
    busy, idle = (
        pc.mean(table.filter(pc.equal(table["running"], state))["energy_1"]).as_py() for state in (True, False)
    )
    assert busy > idle + 10
    assert pc.max(table["cycle"]).as_py() == 12


def test_prices_walk_across_blocks_and_few_volumes_make_up_most() -> None:
    table = events("trades", events=BLOCK + 5000, keys=3, key_skew=0.0)
    for symbol in ("AAAA", "AAAB", "AAAC"):
        price = table.filter(pc.equal(table["symbol"], symbol))["price"].to_numpy()
        assert np.abs(np.diff(price)).max() < 0.01 * price.min() + 0.011
    volumes = sorted((row["counts"] for row in table["volume"].value_counts().to_pylist()), reverse=True)
    assert sum(volumes[:5]) > 0.8 * table.num_rows
    assert len(volumes) > 1000


def test_tables_cover_every_symbol(tmp_path: Path) -> None:
    options = Options(2000, keys=30)
    generate("trades", options, tmp_path)
    symbols = set(pq.read_table(tmp_path)["symbol"].to_pylist())
    for name, table in (("close", close(options)), ("index", index(options))):
        read = pq.read_table(tmp_path / "_tables" / f"{name}.parquet")
        assert read.equals(table)
        assert symbols == set(read["symbol"].to_pylist())
    assert pq.read_table(tmp_path).num_rows == 2000
