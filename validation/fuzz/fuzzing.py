"""Fuzzed cases, each answered in two ways that must agree: readers, engines, saved results.

A check returns what became of a case (a few words to count by), or raises `Disagreement`. A case is known by its seed.
"""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import priori
from priori.base.errors import InputError
from priori.readers import duckdb_parser, text
from priori.readers.formats import FORMATS, Sample
from priori.readers.input_file import Source, open_source
from priori.readers.layout import LineLayout


class Disagreement(AssertionError):
    """Two ways gave two answers."""


# -- numbers -------------------------------------------------------------------------------------------------

PIECES = (
    "0",
    "1",
    "9",
    "25",
    ".",
    "-",
    "+",
    "e",
    "E",
    "e-3",
    "e308",
    "e-320",
    "inf",
    "nan",
    "NaN",
    "infinity",
    "INF",
    "na",
    "NA",
    "(",
    ")",
    "_",
    "x",
    "0x1",
    ",",
    " ",
    "\t",
    "\x0b",
    "\xa0",
    "٣",
    "1.5",
    "17976931348623157e292",
    "d",
    "f",
    "L",
    "true",
    "5e-324",
    "2.2250738585072011e-308",
    "%",
    "/",
    "'",
    "nan(1)",
    "00",
    "1e",
    "e5",
    "#",
)


def number_text(rng: random.Random) -> str:
    """A field that may be a number: a double as Python or C writes it, or pieces in a row."""
    kind = rng.random()
    if kind < 0.25:
        return repr(np.uint64(rng.getrandbits(64)).view(np.float64).item())
    if kind < 0.4:
        return f"{rng.uniform(-10, 10):.{rng.randrange(20)}{rng.choice('efgEG')}}"
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 6)))


def check_numbers(database: duckdb.DuckDBPyConnection, texts: list[str]) -> dict[str, int]:
    """Check that what duckdb makes of fields, where we believe it, is what the text parser makes of them."""
    query = f"SELECT c, TRY_CAST(c AS DOUBLE), {duckdb_parser.odd_score('c')} FROM (SELECT unnest(?) AS c)"
    outcomes = {"same number": 0, "left to the text parser": 0}
    for written, value, odd in database.execute(query, [texts]).fetchall():
        if value is None or odd or not written:
            outcomes["left to the text parser"] += 1
            continue
        try:
            expected = text.number(written.strip(" \t"))
        except ValueError:
            raise Disagreement(f"the score {written!r}: duckdb reads {value!r}, the text parser nothing") from None
        if not _same_numbers(np.array([value]), np.array([expected])):
            raise Disagreement(f"the score {written!r}: duckdb reads {value!r}, the text parser {expected!r}")
        outcomes["same number"] += 1
    return outcomes


def _same_numbers(one: np.ndarray, two: np.ndarray) -> bool:
    """Tell whether numbers are the same to the last bit; one NaN is as good as another."""
    return one.shape == two.shape and bool(
        ((one.view(np.int64) == two.view(np.int64)) | (np.isnan(one) & np.isnan(two))).all()
    )


# -- text files ----------------------------------------------------------------------------------------------

#: What a format holds in its columns: L a label, S a score, N a name.
CONTENTS = {"csv": "SLNN", "tsv": "SLNN", "table": "SLNN", "two-column": "LS", "bob4": "NNNS", "bob5": "NNNNS"}
HEADER = ("score", "label", "user", "trial")
ODD_NAMES = (
    "a b",
    " a",
    "a ",
    "#a",
    "a#b",
    "é",
    "字",
    "it's",
    'a"b',
    '"a"',
    "a,b",
    "a;b",
    "NA",
    "nan",
    "1",
    "",
    "a\tb",
    "\ufeffa",
    "a\x0bb",
    "a\xa0",
    "''",
    "\\",
    "x" * 70,
    "\u2028",
)
ODD_BYTES = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b'""',
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"#",
    b"# c\n",
    b"\n# c, 1\r\n",
    b" #",
    b",",
    b";",
    b"\x0b",
    b"\x0c",
    b"\xc2\x85",
    b"\x1a",
    b"\n\n",
    b" \n",
    b"'",
    b"\\",
    b'"a" ',
    b"nan(1)",
)


def text_file(rng: random.Random) -> tuple[str, bytes]:
    """A small file of some format; half of them as programs write them, the others with oddities."""
    format = rng.choice(list(CONTENTS))
    contents = CONTENTS[format][: rng.choice((2, 3, 4)) if format in ("csv", "tsv", "table") else None]
    delimiter = {"csv": rng.choice(",;"), "tsv": "\t"}.get(format, rng.choice((" ", "\t")))
    odd = rng.random() < 0.5
    rows = [[_field(kind, rng, odd) for kind in contents] for _ in range(rng.randrange(1, 7))]
    if format in ("csv", "tsv") and rng.random() < 0.3:
        rows = [
            ['"' + field.replace('"', '""') + '"' if rng.random() < 0.6 else field for field in row] for row in rows
        ]
    if format in ("csv", "tsv", "table"):
        rows.insert(0, list(HEADER[: len(contents)]))
    line_end = rng.choice(("\n", "\n", "\r\n", "\r"))
    lines = line_end.join(delimiter.join(row) for row in rows) + (line_end if rng.random() < 0.8 else "")
    data = lines.encode()
    if rng.random() < 0.1:
        data = b"\xef\xbb\xbf" + data
    for _ in range(rng.randrange(1, 4) if odd else 0):
        place = rng.randrange(len(data) + 1)
        data = data[:place] + rng.choice(ODD_BYTES) + data[place + rng.choice((0, 0, 1)) :]
    return format, data


def _field(kind: str, rng: random.Random, odd: bool) -> str:
    if odd and rng.random() < 0.1:
        return number_text(rng) if kind == "S" else rng.choice(ODD_NAMES)
    if kind == "S":
        return rng.choice(
            (repr(rng.gauss(0, 1)), str(rng.randrange(-3, 4)), f"{rng.random():.3f}", "nan", "-inf", "1e-5")
        )
    return rng.choice("01") if kind == "L" else rng.choice(("a", "b", "u7", "007", f"p{rng.randrange(20)}"))


Row = tuple[list[str], str, list[float]]


def check_file(database: duckdb.DuckDBPyConnection, path: Path, format: str) -> str:
    """Check that both readers read one file alike, to the last bit and the last word."""
    ways: list[str] = []
    try:
        with open_source(path) as source:
            layout = FORMATS[format].layout(Sample(source))

            def use(copy: Source, plain: LineLayout, how: Any) -> tuple[list[Row], int]:
                rows = _rows(database, copy, plain, how)
                ways.append("rewritten" if how.trusted else "as it is" if copy is source else "blanks squeezed")
                return rows, len(rows)

            expected, refused = _outcome(lambda: [row[1:] for row in text.rows(source, layout)])
            found, refused_too = _outcome(lambda: duckdb_parser._attempt(source, layout, use))
    except InputError:
        return "refused before a row is read"
    if refused != refused_too or repr(expected) != repr(found or []):
        raise Disagreement(
            f"{format} file {path.read_bytes()!r}: the text parser reads {expected} {refused}, duckdb {found} "
            f"{refused_too}"
        )
    return f"read alike, {ways[-1]}" if found else "refused in the same words"


def _rows(database: duckdb.DuckDBPyConnection, source: Source, layout: LineLayout, how: Any) -> list[Row]:
    """Return the rows as the reader of large files has them, before it makes codes of names."""
    rows, width = database.execute(duckdb_parser._rows(source, layout, how)).fetchall(), len(layout.names)
    for index, column in enumerate(layout.names):
        names = [row[index] for row in rows]
        if how.quoted:
            duckdb_parser._refuse_odd(column, names)
        if any(name is None or (name == "" and column != "attack") for name in names):
            raise duckdb_parser.Unclean
    return [
        (list(row[:width]), row[width + 1] if layout.trial else "", [math.nan if row[width] is None else row[width]])
        for row in rows
    ]


def _outcome(read: Any) -> tuple[Any, str]:
    try:
        return read(), ""
    except InputError as error:
        return [], str(error)


# -- engines -------------------------------------------------------------------------------------------------


def trials_table(rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """A few trials with ties, infinities and NaN, as columns; and how they are to be read."""
    size = int(rng.integers(2, 60))
    label = rng.integers(0, 2, size)
    score = rng.choice(
        [rng.normal(size=size), rng.integers(-3, 4, size).astype(float), np.round(rng.normal(size=size), 1)]
    )
    score = score + label * rng.choice([0.0, 1.0, 2.0])
    odd = rng.random(size) < rng.choice([0.0, 0.2])
    score[odd] = rng.choice([np.inf, -np.inf, np.nan, -0.0, 5e-324, 1e308, -1e308], int(odd.sum()))
    if rng.random() < 0.3:
        with np.errstate(over="ignore"):
            score = score.astype(np.float32)
    labels = [
        label,
        label * 2 - 1,
        label == 1,
        label.astype(float),
        np.where(label == 1, "Target", "nontarget"),
        np.where(rng.random(size) < 0.1, np.nan, label),
        np.where(label == 1, "1", "NA"),
        np.zeros(size),
    ]
    columns: dict[str, Any] = {
        "score": score,
        "label": labels[rng.choice(8, p=[0.3, 0.1, 0.1, 0.2, 0.2, 0.03, 0.03, 0.04])],
    }
    if rng.random() < 0.5:
        user = rng.integers(-2, 9, size)
        kinds = [
            user,
            user.astype(str),
            user.astype(float),
            np.where(user == 3, "", user.astype(str)),
            np.where(user == 3, "a\0b", "c"),
        ]
        columns["user"] = kinds[rng.choice(5, p=[0.4, 0.5, 0.04, 0.03, 0.03])]
    options = {"nan": str(rng.choice(["error", "reject", "drop"])), "lower_is_better": bool(rng.random() < 0.3)}
    if rng.random() < 0.3:
        options["pos_label"] = columns["label"][0].item() if columns["label"][0] == columns["label"][0] else 1
    return columns, options


def check_engine(seed: int, folder: Path, engine: str = "duckdb") -> str:
    """Check that a scan of a Parquet file chooses, counts and refuses as it is done in memory."""
    import pyarrow
    import pyarrow.parquet

    rng = np.random.default_rng([seed, 1])
    columns, options = trials_table(rng)
    path = folder / f"{engine}.parquet"
    pyarrow.parquet.write_table(
        pyarrow.table(
            {name: column.tolist() if column.dtype.kind in "UO" else column for name, column in columns.items()}
        ),
        path,
    )
    alphas = np.round(rng.random(5), 3).tolist()
    thresholds = np.append(rng.normal(size=5), columns["score"][:5].astype(float))
    thresholds = thresholds[~np.isnan(thresholds)]

    def answers(how: Any) -> tuple[Any, ...]:
        scores = how()
        curve = priori.epc(scores, scores, alpha=alphas)
        counts = [column.tolist() for column in scores.rejected(thresholds)]
        return (
            {name: np.asarray(column).tolist() for name, column in curve.columns().items()},
            counts,
            scores.n_users,
            scores.nan_rejected,
        )

    expected, found = (
        _answered(lambda how=how: answers(how))
        for how in (
            lambda: priori.read(path, **options),
            lambda: priori.scan(path, engine=engine, memory="1MB", **options),
        )
    )
    if repr(expected) != repr(found):
        raise Disagreement(f"engine {engine}, seed {seed}, {options}: in memory {expected}, scanned {found}")
    return "refused by both" if isinstance(expected, str) else "same curve and counts"


def _answered(ask: Any) -> Any:
    try:
        return ask()
    except priori.PrioriError as error:
        return type(error).__name__


# -- saved results -------------------------------------------------------------------------------------------


def check_saved(seed: int) -> str:
    """Check that a result comes back from its file as it was."""
    rng = np.random.default_rng([seed, 2])
    sets = [
        priori.Scores.from_arrays(
            *(np.round(rng.normal(shift, size=rng.integers(1, 12)), int(rng.integers(0, 17))) for shift in (0, 1))
        )
        for _ in range(2)
    ]
    name = "".join(rng.choice(list("aé<&\"'\\,\n\t=字 "), 5))
    kind = int(rng.integers(0, 4))
    result: Any = priori.epc(*sets, points=int(rng.integers(2, 6)), name=name)
    if kind == 1:
        result = priori.roc(sets[0])
    elif kind == 2:
        result = result.band(n_resamples=5, bootstrap="sample")
    elif kind == 3:
        result = priori.rate_interval(sets[1], float(rng.normal()))
    again = type(result).from_json(result.to_json())
    if result.to_dict() != again.to_dict():
        raise Disagreement(f"saved result, seed {seed}: {result.to_dict()} came back as {again.to_dict()}")
    return "came back from JSON"


@contextmanager
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open one database for many cases: to open one takes longer than to read a small file."""
    connection = duckdb_parser.open_database(preserve_insertion_order="true", threads="1")
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder for the files of the cases."""
    with tempfile.TemporaryDirectory(prefix="priori-fuzz-") as folder:
        yield Path(folder)
