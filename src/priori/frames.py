"""Dataframes, in and out, of whichever library the caller uses (through narwhals)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.errors import InputError, OptionError

__all__ = ["columns_of", "make_frame"]

REQUIRED = ("score", "label")
OPTIONAL = ("user", "probe_user", "trial", "dataset")


def columns_of(
    frame: Any, names: Mapping[str, str], *, source: str = "frame"
) -> tuple[dict[str, NDArray[Any]], str | None]:
    """Return our columns of a dataframe as arrays, and the library it came from.

    ``names`` maps our names to the frame's; a column named there must exist, others are taken if present.
    """
    import narwhals as nw

    try:
        native = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"{source}: a {type(frame).__name__} is not a dataframe we can read (pandas, polars, pyarrow, duckdb, ...)"
        ) from None
    unknown = set(names) - {*REQUIRED, *OPTIONAL}
    if unknown:
        raise OptionError(f"unknown column role {sorted(unknown)[0]!r}; choose among {', '.join(REQUIRED + OPTIONAL)}")
    present = native.collect_schema().names()
    wanted: dict[str, str] = {}
    for role in REQUIRED + OPTIONAL:
        column = names.get(role, role)
        if column in present:
            wanted[role] = column
        elif role in REQUIRED or role in names:
            raise InputError(f"{source}: no column {column!r} for {role}; the columns are {', '.join(present)}")
    selected = native.select(*dict.fromkeys(wanted.values()))
    backend = str(native.implementation)
    if isinstance(selected, nw.LazyFrame):
        selected = selected.collect()
    return {role: selected[column].to_numpy() for role, column in wanted.items()}, backend


def make_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Make a dataframe from columns, in the library named, or the first of pandas, polars, pyarrow installed."""
    import narwhals as nw

    data = {name: np.asarray(column).tolist() for name, column in columns.items()}
    choices = [library] if library else ["pandas", "polars", "pyarrow"]
    for choice in choices:
        try:
            return nw.from_dict(data, backend=choice).to_native()  # type: ignore[arg-type]
        except (ImportError, ModuleNotFoundError):
            continue
    raise OptionError(f"no dataframe library found ({', '.join(choices)}); install one, or use to_dict()")
