"""Signatures: which predicates an event passes, numbered by those that occur."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from jobs.engine.events.keys import key_codes, sign_keys, signature_column, signatures, unpack_signatures
from jobs.engine.program.program import SIGNATURE

RISING = signatures([np.array([True, True, False, True]), np.array([False, True, False, False])])


def test_events_that_pass_the_same_predicates_share_a_signature() -> None:
    assert RISING.codes.tolist() == [0, 1, 2, 0]
    assert RISING.tests.tolist() == [[True, False], [True, True], [False, False]]
    assert RISING.passes_any.tolist() == [True, True, False]


def test_of_fewer_predicates_fewer_signatures_are_left() -> None:
    first = RISING.select([0])
    assert first.codes.tolist() == [0, 0, 1, 0]
    assert first.tests.tolist() == [[True], [False]]
    assert RISING.select([0, 1]) is RISING


def test_bytes_of_signatures_are_read_back() -> None:
    tests = np.arange(30).reshape(3, 10) % 3 == 0
    column = pa.chunked_array([signature_column(tests)])
    assert column.type.byte_width == 2
    assert unpack_signatures(column, 10).tolist() == tests.tolist()


def test_keys_with_signatures_are_keys() -> None:
    keys = sign_keys(key_codes(pa.table({"k": ["a", "b", "a", "a"]})), RISING)
    assert keys.codes[0] == keys.codes[3]
    assert len(set(keys.codes.tolist())) == 3
    names = [keys.distinct["k"][code].as_py() for code in keys.codes.tolist()]
    assert names == ["a", "b", "a", "a"]
    passed = unpack_signatures(keys.distinct[SIGNATURE], 2)[keys.codes]
    assert passed.tolist() == RISING.tests[RISING.codes].tolist()
