"""Texts as numbers in the order of the texts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def text_ranks(values: pa.Array) -> npt.NDArray[np.int64]:
    """A number per text, ordered as Spark orders texts: byte by byte in UTF-8. Equal texts have equal numbers."""
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    ranks = np.empty(len(encoded.dictionary) + 1, np.int64)
    ranks[np.asarray(pc.sort_indices(encoded.dictionary))] = np.arange(len(encoded.dictionary))
    ranks[-1] = 0
    ranked: npt.NDArray[np.int64] = ranks[np.asarray(pc.fill_null(encoded.indices.cast(pa.int64()), -1))]
    return ranked
