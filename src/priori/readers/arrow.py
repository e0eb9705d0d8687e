"""Feather and Arrow IPC files: written as Parquet, by pyarrow, and read as that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from priori.base.errors import InputError
from priori.base.temporary import temporary_file
from priori.readers import parquet
from priori.readers.first_lines import Sample
from priori.readers.input_file import Source
from priori.readers.layout import Columns


def read(sample: Sample) -> Columns:
    """Read an Arrow file as the Parquet table with the same columns."""
    if not sample.source.arrow:
        raise InputError(f"{sample.source.name}: not an Arrow file (it does not begin with ARROW1)")
    with temporary_file() as (file, path):
        file.close()
        return parquet.read(replace(sample, source=as_parquet(sample.source, path)))


def as_parquet(source: Source, path: Path) -> Source:
    """Write an Arrow file as Parquet, a batch at a time, and return that."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{source.name}: Feather and Arrow files are read with pyarrow: pip install pyarrow, or save it as Parquet"
        ) from None
    assert source.path is not None
    try:
        with pa.OSFile(str(source.path)) as file:
            batches = pa.ipc.open_file(file)
            with pq.ParquetWriter(path, batches.schema) as writer:
                for number in range(batches.num_record_batches):
                    writer.write_batch(batches.get_batch(number))
    except pa.ArrowException as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{source.name}: the Arrow file cannot be read ({reason})") from None
    return replace(source, path=path, arrow=False, parquet=True, size=path.stat().st_size)
