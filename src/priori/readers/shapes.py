"""Scores that do not come as one labelled trial per line: a matrix with ids, and one file per class."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError
from priori.readers.formats import Sample
from priori.readers.input_file import open_source
from priori.readers.layout import BLANKS, Columns, LineLayout
from priori.readers.text import is_number, number, records
from priori.scores.trials import Names

# -- a matrix --------------------------------------------------------------------------------------------------------


def matches_matrix(sample: Sample) -> bool:
    """An .npz file; or ids in the first line and before each row of numbers, of which some are the same."""
    if sample.source.npz:
        return True
    header = sample.titles
    if len(header) < 2 or len(sample.lines) < 2 or sample.names_score(header):
        return False
    rows = _matrix_rows(sample, header)[:5]
    alike = {name for name, _ in rows} & {*header}
    return bool(alike) and all(values and all(map(is_number, values)) for _, values in rows)


def _matrix_rows(sample: Sample, header: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the id and the fields of each row that was looked at."""
    delimiter = sample.delimiter
    found = [
        sample.rows[row] if delimiter == BLANKS else [text.strip(' \t"') for text in line.split(delimiter)]
        for row, (_, line) in enumerate(sample.lines)
    ]
    return [(fields[0], fields[1:]) for fields in found[1:] if len(fields) in (len(header), len(header) + 1)]


def read_matrix(sample: Sample) -> Columns:
    """Read probes (rows) by references (columns); a trial is positive where the two ids are the same."""
    name = sample.source.name
    references, probes, scores = _stored_matrix(sample) if sample.source.npz else _written_matrix(sample)
    if scores.shape != (len(probes), len(references)):
        raise InputError(f"{name}: {len(probes)} probes and {len(references)} references for scores {scores.shape}")
    users, (claimed, real) = Names.encode(np.array(references, dtype=str), np.array(probes, dtype=str))
    assert users is not None
    assert claimed is not None
    assert real is not None
    size = scores.shape
    codes = {"user": np.tile(claimed, size[0]), "probe_user": np.repeat(real, size[1])}
    return Columns({"score": np.ascontiguousarray(scores).ravel()}, codes, {"user": users})


def _written_matrix(sample: Sample) -> tuple[list[str], list[str], NDArray[np.float64]]:
    name, header, delimiter = sample.source.name, sample.titles, sample.delimiter
    probes: list[str] = []
    values: list[list[float]] = []
    for line, fields in records(sample.source, delimiter, sample.lines[0][0]):
        if not probes and len(fields) == len(header):
            header = header[1:]  # what stands above the ids of the rows
        if len(fields) != len(header) + 1:
            raise InputError(f"{name}:{line}: {len(fields) - 1} scores for {len(header)} references; check the row")
        try:
            values.append([number(text) for text in fields[1:]])
        except ValueError as error:
            raise InputError(f"{name}:{line}: a score {error}") from None
        probes.append(fields[0])
    return header, probes, np.array(values, dtype=np.float64).reshape(len(values), len(header))


#: What an .npz file with a matrix holds.
ARRAYS = ("scores", "probes", "references")


def _stored_matrix(sample: Sample) -> tuple[list[str], list[str], NDArray[np.float64]]:
    name = sample.source.name
    assert sample.source.path is not None
    shape = f"save it with numpy.savez(file, {', '.join(f'{each}=...' for each in ARRAYS)})"
    try:
        with sample.source.path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            if missing := [each for each in ARRAYS if each not in held]:
                raise InputError(f"{name}: an .npz file without {missing[0]!r}; {shape}")
            scores, probes, references = (held[each] for each in ARRAYS)
        return [*map(str, references.tolist())], [*map(str, probes.tolist())], scores.astype(np.float64)
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: cannot be read as arrays ({error}); {shape}") from None


# -- a file for each class -------------------------------------------------------------------------------------------

#: What files of one class may be called, positive first.
CLASSES = (
    ("genuine", "impostor"),
    ("gen", "imp"),
    ("mated", "nonmated"),
    ("target", "nontarget"),
    ("client", "impostor"),
    ("bonafide", "spoof"),
    ("positive", "negative"),
    ("positives", "negatives"),
    ("pos", "neg"),
)


def matches_class(sample: Sample) -> bool:
    """One number in every line."""
    return sample.trials is None and all(len(row) == 1 and is_number(row[0]) for row in sample.rows)


def read_class(sample: Sample) -> Columns:
    """Read a file of scores of one class, and the other, of the same name but for the class, beside it."""
    name, path = sample.source.name, sample.source.path
    found = [] if path is None else [*partners(os.fspath(path))]
    there = [(label, other, partner) for label, other, partner in found if os.path.isfile(partner)]
    if len(there) != 1:
        needed = found[0][2] if found else "dev-impostor.txt beside dev-genuine.txt"
        raise InputError(
            f"{name}: one number in each line and no label; a file of one class needs the other beside it: {needed}; "
            "otherwise add a label to each line"
        )
    label, other, partner = there[0]
    layout = LineLayout(BLANKS, ("score",), {"score": 0})
    own = sample.load(layout)
    with open_source(partner) as opened:
        second = Sample(opened).load(layout)
    scores = np.concatenate([own.score, second.score])
    labels = np.repeat(["1", "0"] if (label, other) in CLASSES else ["0", "1"], [len(own), len(second)])
    names, (codes,) = Names.encode(labels)
    assert names is not None
    assert codes is not None
    return Columns({"score": scores}, {"label": codes}, {"label": names})


def partners(path: str) -> chain[tuple[str, str, str]]:
    """Yield the class that a file's name mentions, the other class, and what the other's file would be called."""
    folder, name = os.path.split(path)

    def named(label: str, other: str) -> list[tuple[str, str, str]]:
        swapped = re.sub(rf"(?<![a-z]){label}(?![a-z])", other, name, count=1, flags=re.IGNORECASE)
        return [] if swapped == name else [(label, other, os.path.join(folder, swapped))]

    return chain.from_iterable(named(*pair) for both in CLASSES for pair in (both, both[::-1]))
