"""Dataframes, in and out, of whichever library the caller uses (through narwhals)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError, OptionError, argument, unknown

#: The libraries that can make a dataframe from columns.
EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")

#: Our columns, in the order in which they are looked for.
COLUMNS = ("score", "label", "user", "probe_user", "trial", "dataset", "group", "attack", "time", "weight", "amount")

#: Those that are read only where they are named: in files, columns of these names may mean something else.
NAMED_ONLY = ("group", "attack", "time", "weight", "amount")


def is_missing(value: Any) -> bool:
    """Tell whether an entry is missing: None, NaN, or the NA of a dataframe library."""
    return value is None or not isinstance(value == value, (bool, np.bool_)) or value != value


def match_columns(
    present: Sequence[str], names: Mapping[str, str], *, source: str, labelled: bool = True
) -> dict[str, str]:
    """Return which of the columns present is which of ours.

    A column named in ``names`` must exist; others are taken when present, in any case (``Score`` will do), unless they
    are named as nothing (``""``). The label may be missing when user and probe_user are there: a trial is then positive
    when they are the same. Where trials are not ``labelled`` it is left out.

    Examples
    --------
    >>> match_columns(["id", "Score", "class"], {"label": "class"}, source="dev.csv")
    {'score': 'Score', 'label': 'class'}
    """
    for role in names:
        if role not in COLUMNS:
            raise unknown("column", role, COLUMNS)
    left_out = {role for role, name in names.items() if not name} | ({"label"} if not labelled else set())
    names = {role: name for role, name in names.items() if name}
    matched: dict[str, str] = {}
    for role in COLUMNS:
        if role in left_out or (role in NAMED_ONLY and role not in names):
            continue
        sought = names.get(role, role)
        similar = [name for name in present if name == sought]
        similar = similar or [name for name in present if name.lower() == sought.lower()]
        if len(similar) > 1:
            raise InputError(f"{source}: {len(similar)} columns are called {sought!r}; rename all but one")
        if similar:
            matched[role] = similar[0]
    by_identity = "label" not in names and {"user", "probe_user"} <= set(matched)
    optional = {"label"} if by_identity or not labelled else set()
    for role in ("score", "label", *names):
        if role not in matched and role not in optional:
            raise InputError(
                f"{source}: no column {names.get(role, role)!r} for the {role}; the columns are {name_list(present)}; "
                f"say which it is ({argument('columns', f'{role}=NAME')})"
            )
    return matched


def not_names(source: str, title: str, role: str, kind: object) -> InputError:
    """Return the error for a column of a kind that cannot name anything."""
    return InputError(f"{source}: column {title!r} holds {kind}; a {role} must be text or a whole number")


def name_list(names: Sequence[str], most: int = 12, longest: int = 40) -> str:
    """Return the names of columns for a message, the first dozen, shortened."""
    short = [name if len(name) <= longest else name[: longest - 3] + "..." for name in names[:most]]
    return ", ".join(short) + (f" and {len(names) - most} more" if len(names) > most else "")


def columns_of(
    frame: Any, names: Mapping[str, str], *, source: str = "frame"
) -> tuple[dict[str, NDArray[Any]], str | None]:
    """Return our columns of a dataframe as arrays, and the library it came from (None if it makes no frames).

    Missing scores become NaN; a missing label or name is an error.
    """
    import narwhals as nw

    try:
        native = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"{source}: a {type(frame).__name__} is not a dataframe we can read (pandas, polars, pyarrow, duckdb, ...)"
        ) from None
    matched = match_columns(native.collect_schema().names(), names, source=source)
    selected = native.select(*dict.fromkeys(matched.values()))
    if selected.implementation.is_duckdb():  # without going through another dataframe library
        arrays = {name: unmasked(column) for name, column in selected.to_native().fetchnumpy().items()}
    else:
        eager = selected.collect() if isinstance(selected, nw.LazyFrame) else selected
        arrays = {name: _from_series(eager[name]) for name in eager.columns}
    columns = {role: _checked(arrays[name], role, f"{source}: column {name!r}") for role, name in matched.items()}
    if "label" not in columns:
        columns["label"] = columns["user"].astype(str) == columns["probe_user"].astype(str)
    backend = str(native.implementation)
    return columns, backend if backend in EAGER else None


def unmasked(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column with its masked entries as NaN or None."""
    # numpy imports its masked arrays when they are first named, and most columns are not masked.
    if type(column) is np.ndarray or not isinstance(column, np.ma.MaskedArray):
        return column
    if not np.ma.is_masked(column):
        return np.asarray(column.data)
    plain = column.data.astype(np.float64 if column.dtype.kind == "f" else object)
    plain[np.ma.getmaskarray(column)] = np.nan if column.dtype.kind == "f" else None
    return plain


def _from_series(series: Any) -> NDArray[Any]:
    """Return a column as numbers, booleans or objects; missing entries become NaN, None or NA."""
    import narwhals as nw

    if series.dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    elif isinstance(series.dtype, (nw.Categorical, nw.Enum)):
        series = series.cast(nw.String)
    return np.asarray(series.to_numpy())


def _checked(column: NDArray[Any], role: str, where: str) -> NDArray[Any]:
    """Return a column as what its role needs: numbers for scores, text or whole numbers for names."""
    missing = missing_entries(column)
    if role == "score":
        if missing.any() and column.dtype.kind == "O":
            column = np.where(missing, np.nan, column)
        try:
            if column.dtype.kind in "USbMm":
                raise TypeError
            return column.astype(np.float64)
        except (TypeError, ValueError):
            kind = type(column[~missing][0]).__name__
            raise InputError(f"{where}: the scores must be numbers, not {kind}") from None
    if role == "attack" and missing.any():
        column, missing = np.where(missing, "", column.astype(object)), np.zeros_like(missing)
    if missing.any():
        first = int(np.flatnonzero(missing)[0]) + 1
        raise InputError(f"{where}: {int(missing.sum())} values are missing (the first in row {first}); fill them in")
    if column.dtype.kind == "f" and role not in ("label", "weight", "amount"):
        raise InputError(f"{where}: holds floating-point numbers; a {role} must be text or a whole number")
    return as_text(column, where) if column.dtype.kind in "OSMm" else column


def as_text(column: NDArray[Any], where: str) -> NDArray[np.str_]:
    """Return names as text; bytes are UTF-8, wherever they come from.

    Examples
    --------
    >>> as_text(np.array([b"b\\xc3\\xa9a", "bo", 3], dtype=object), "user").tolist()
    ['béa', 'bo', '3']
    """
    try:
        if column.dtype.kind == "S":
            return np.char.decode(column, "utf-8")
        if column.dtype.kind == "O" and any(isinstance(value, (bytes, bytearray)) for value in column):
            held = (value.decode() if isinstance(value, (bytes, bytearray)) else str(value) for value in column)
            return np.array([*held], dtype=str)
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: holds bytes that are no UTF-8 text ({error.reason})") from None
    return column.astype(str)


def missing_entries(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which entries of a column are missing."""
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "Mm":
        return np.asarray(np.isnat(column))
    if column.dtype.kind != "O":
        return np.zeros(column.size, dtype=bool)
    return np.fromiter((is_missing(value) for value in column), dtype=bool, count=column.size)


def make_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Make a dataframe from columns, in the library named, or the first of pandas, polars, pyarrow installed.

    Whole numbers stay whole numbers and truth values truth values, also where a table has no row.
    """
    import narwhals as nw

    data = {name: _typed(np.asarray(column)) for name, column in columns.items()}
    choices = [library] if library else ["pandas", "polars", "pyarrow"]
    for choice in choices:
        if choice not in EAGER:
            raise unknown("dataframe library", choice, EAGER)
        try:
            return nw.from_dict(data, backend=choice).to_native()  # type: ignore[arg-type]
        except (ImportError, ModuleNotFoundError):
            continue
    raise OptionError(f"no dataframe library found ({', '.join(choices)}); install one, or use to_dict()")


def _typed(column: NDArray[Any]) -> Any:
    """Return a column as every library takes it with its type: numbers as an array, the rest as a list."""
    if column.dtype.kind in "biuf":
        return column
    values = column.tolist()
    return np.full(len(values), np.nan) if values and all(value is None for value in values) else values
