"""Arrow streams as numpy columns: missing values, slices, arrays that outlive their batch, errors of the producer."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from priori.base.arrow_streams import MissingValues, StreamError, batches, batches_with_text


def test_columns_of_numbers_come_batch_by_batch_and_may_be_kept():
    text = "SELECT i::DOUBLE, i::FLOAT, (i % 200)::UTINYINT, i::BIGINT FROM range(2500000) t(i)"
    database = duckdb.connect()
    kept = list(batches(database.sql(text)))
    assert len(kept) > 1
    columns = [np.concatenate(parts) for parts in zip(*kept, strict=True)]
    assert [column.dtype for column in columns] == [np.float64, np.float32, np.uint8, np.int64]
    for column in columns[:2] + columns[3:]:
        np.testing.assert_array_equal(np.sort(column), np.arange(2_500_000))


def test_a_missing_number_is_nan_and_a_missing_whole_number_an_error():
    batch = pa.record_batch({"score": pa.array([1.0, None, 3.0, None, 5.0]), "label": pa.array([0, 1, 0, 1, 0])})
    ((score, label),) = batches(pa.table(batch.slice(1, 3).columns, ["score", "label"]))
    np.testing.assert_array_equal(score, [np.nan, 3.0, np.nan])
    assert label.tolist() == [1, 0, 1]
    with pytest.raises(MissingValues) as error:
        list(batches(pa.table({"score": [0.5, 1.0], "label": [1, None]})))
    assert error.value.column == 1


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_comes_as_it_stands(kind: pa.DataType) -> None:
    table = pa.table({"score": [0.5, 1.0, 2.0, 3.0], "trial": pa.array(["a", "é", "", "xyz"], kind)})
    (((score,), piece),) = batches_with_text(table.slice(1, 3))
    assert score.tolist() == [1.0, 2.0, 3.0]
    assert piece.text.tobytes() == "éxyz".encode()
    held = [piece.data[start:end].tobytes() for start, end in zip(piece.offsets, piece.offsets[1:], strict=False)]
    assert held == ["é".encode(), b"", b"xyz"]
    with pytest.raises(MissingValues) as error:
        list(batches_with_text(pa.table({"score": [0.5, 1.0], "trial": pa.array(["a", None], kind)})))
    assert error.value.column == 1


def test_the_producers_message_is_kept():
    database = duckdb.connect()
    failing = database.sql("SELECT CASE WHEN i > 900000 THEN error('boom')::INT ELSE 1 END FROM range(1000000) t(i)")
    with pytest.raises((StreamError, duckdb.Error), match=r"^Invalid Input Error: boom$"):  # old duckdb raises its own
        for _ in batches(failing):
            pass
