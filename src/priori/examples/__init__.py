"""Real scores, ready to load: texts (machine-written or not), faces, spam and cancer."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import unknown
from priori.base.whole_files import write_whole
from priori.scores import Scores
from priori.scores.trials import IDENTITY_COLUMNS

__all__ = ["NAMES", "Example", "Sets", "load", "write"]

Column = NDArray[Any]
Table = dict[str, Column]


class Sets(NamedTuple):
    """The scores of one system: on the development set, where thresholds are chosen, and on the test set."""

    dev: Scores
    test: Scores


@dataclass(frozen=True)
class About:
    """What is known of an example before its table is read."""

    title: str
    task: str
    provenance: str
    licence: str


@dataclass(frozen=True)
class Example:
    """Real scores of several systems on the same trials.

    Attributes
    ----------
    name, title : str
        What people type, and what it is.
    task : str
        The task it belongs to: detection, authentication, retrieval or diagnosis.
    systems : mapping of str to Sets
        For each system its development and its test scores, ``systems[name].dev`` and ``.test``.
    provenance, licence : str
        Where the raw data came from and how the scores were made; what the data's owners ask for.
    """

    name: str
    title: str
    task: str
    systems: Mapping[str, Sets]
    provenance: str
    licence: str


ABOUT: dict[str, About] = {
    "texts": About(
        "Machine-written text: four detectors tuned on news, used on medical answers",
        "texts",
        "Statistics of texts published with Glimpse (Bao et al.); detectors and scores by examples/make_texts.py",
        "Scores: BSD-3-Clause, as Priori. The statistics are under the MIT licence; cite Glimpse.",
    ),
    "faces": About(
        "Face verification on the ORL faces: five systems, 15 people to develop on, 15 others to test on",
        "authentication",
        "ORL face database (Samaria and Harter 1994) at 23 x 28 pixels; scores by examples/make_faces.py",
        "Scores: BSD-3-Clause, as Priori. When using the images, give credit to Olivetti Research Laboratory.",
    ),
    "spam": About(
        "Spam among text messages: four classifiers, five random splits",
        "spam",
        "SMS Spam Collection v.1 (Almeida, Gómez Hidalgo and Yamakami 2011); scores by examples/make_spam.py",
        "Scores: BSD-3-Clause, as Priori. The messages are free to use; their authors ask to cite the 2011 paper.",
    ),
    "cancer": About(
        "Malignant or benign breast mass: three classifiers, five folds",
        "diagnosis",
        "Breast Cancer Wisconsin (Diagnostic) as in scikit-learn (Street, Wolberg and Mangasarian 1993); "
        "scores by examples/make_cancer.py",
        "Scores: BSD-3-Clause, as Priori. The measurements are public, from the UCI repository (CC BY 4.0).",
    ),
}

#: The examples there are.
NAMES: tuple[str, ...] = tuple(ABOUT)


def load(name: str) -> Example:
    """Load the real scores of one domain.

    Parameters
    ----------
    name : {"texts", "faces", "spam", "cancer"}
        Which example: machine-written texts, or one of the papers' three domains (person authentication, text
        categorization, medicine).

    Examples
    --------
    >>> import priori.examples
    >>> faces = priori.examples.load("faces")
    >>> list(faces.systems)
    ['correlation', 'eigenfaces', 'fisherfaces', 'binary-patterns', 'gradients']
    >>> faces.systems["eigenfaces"].dev
    Scores(1470 negatives, 105 positives, 15 users)
    """
    about = _about(name)
    systems: dict[str, dict[str, Scores]] = {}
    for (system, part), table in _parts(name):
        columns: dict[str, Any] = {column: table[column] for column in IDENTITY_COLUMNS if column in table}
        systems.setdefault(system, {})[part] = Scores.from_predictions(
            table["label"], table["score"].astype(np.float64), source=f"{name}/{system}-{part}", **columns
        )
    pairs = {system: Sets(parts["dev"], parts["test"]) for system, parts in systems.items()}
    return Example(name, about.title, about.task, MappingProxyType(pairs), about.provenance, about.licence)


def write(name: str, directory: str | Path) -> list[Path]:
    """Write an example as ordinary files, ``<system>-dev.csv`` and ``<system>-test.csv``, and return their paths.

    Each has a header and the columns score, label and those of user, probe_user, trial and dataset that it has.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     paths = write("cancer", directory)
    ...     print(paths[0].name, paths[0].read_text().split()[0])
    logistic-dev.csv score,label,trial,dataset
    """
    _about(name)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for (system, part), table in _parts(name):
        columns = ["score", "label", *(column for column in IDENTITY_COLUMNS if column in table)]
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(table[column] for column in columns), strict=True))
        paths.append(folder / f"{system}-{part}.csv")
        write_whole(paths[-1], text.getvalue())
    return paths


def _about(name: str) -> About:
    if name not in ABOUT:
        raise unknown("example", name, NAMES)
    return ABOUT[name]


def _parts(name: str) -> Iterator[tuple[tuple[str, str], Table]]:
    """Read a table and give its columns, as text, for each system and set in the order of the table."""
    packed = (files(__name__) / f"{name}.csv.gz").read_bytes()
    header, *rows = csv.reader(io.StringIO(gzip.decompress(packed).decode("utf-8"), newline=""))
    groups: dict[tuple[str, str], list[list[str]]] = {}
    for row in rows:
        groups.setdefault((row[0], row[1]), []).append(row)
    for key, group in groups.items():
        yield key, {column: np.array(values) for column, values in zip(header, zip(*group, strict=True), strict=True)}
