"""The manufacturing file of the DEBS 2012 challenge, as a stream of Parquet files.

The file has no header: a time, a number, three energies, six positions, one more reading and then states of 0 and 1,
all separated by tabs. It cannot be had with Heddle; whoever has it replays it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from jobs.generate.files import prepare, write_parts
from optimizer.errors import HeddleError

READINGS = ("index", "mf01", "mf02", "mf03", "pc13", "pc14", "pc15", "pc25", "pc26", "pc27", "res")
BLOCK = 16 << 20  # bytes of text that are parsed at a time


def replay_debs2012(file: Path, folder: Path, file_events: int, progress: Callable[[int], object]) -> list[Path]:
    """Write the events of the file, in its order, as Parquet files with a column `ts` and named columns."""
    try:
        prepare(folder)
        return write_parts(read_blocks(file), folder, file_events, progress)
    except pa.ArrowInvalid as error:
        raise HeddleError(f"{file}: {str(error).splitlines()[0]}; give the challenge's tab-separated file") from error
    except OSError as error:
        raise HeddleError(
            f"{error.filename or file}: {error.strerror or error}; name a file that can be read"
        ) from error


def read_blocks(file: Path) -> Iterator[pa.Table]:
    """Yield the events of the file, a block of text at a time."""
    texts = pa.input_stream(str(file), compression="detect")
    options = csv.ReadOptions(autogenerate_column_names=True, block_size=BLOCK)
    times = csv.ConvertOptions(column_types={"f0": pa.string()})
    for batch in csv.open_csv(texts, options, csv.ParseOptions(delimiter="\t"), times):
        yield name_columns(pa.Table.from_batches([batch]), file)


def name_columns(block: pa.Table, file: Path) -> pa.Table:
    """Return a block with the columns' names, its first column as a time and its states as booleans."""
    states = block.num_columns - 1 - len(READINGS)
    if states < 0:
        expected = len(READINGS) + 1
        raise HeddleError(f"{file}: {block.num_columns} columns; give the challenge's file, of at least {expected}")
    readings = [column.cast(pa.int64()) for column in block.columns[1 : len(READINGS) + 1]]
    flags = [column.cast(pa.bool_()) for column in block.columns[len(READINGS) + 1 :]]
    names = ["ts", *READINGS, *(f"flag_{number:02d}" for number in range(1, states + 1))]
    return pa.Table.from_arrays([times_of(block.column(0), file), *readings, *flags], names)


def times_of(texts: pa.ChunkedArray, file: Path) -> pa.ChunkedArray:
    """Return times such as 2012-02-22T16:46:28.9670320+00:00 to the microsecond; their offset must be 0.

    >>> times_of(pa.chunked_array([["2012-02-22T16:46:28.9670320+00:00"]]), Path("x"))[0].as_py().isoformat()
    '2012-02-22T16:46:28.967032+00:00'
    """
    zeros = pc.match_substring_regex(texts, r"^.{19}(\.\d+)?(Z|[+]00:00)?$")
    if not pc.all(zeros).as_py():
        wrong = texts.filter(pc.invert(zeros))[0].as_py()
        raise HeddleError(f"{file}: the time {wrong!r} is not in UTC; give the challenge's file as it was published")
    bare = pc.replace_substring_regex(texts, r"(Z|[+]00:00)$", "")
    return pc.utf8_slice_codeunits(bare, 0, 26).cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))
