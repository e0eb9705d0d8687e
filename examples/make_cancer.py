"""Diagnosis scores of three classifiers from the breast cancer data that comes with scikit-learn.

Usage: python examples/make_cancer.py [OUTPUT.csv.gz]
       python examples/make_cancer.py --data breast_cancer.csv [OUTPUT.csv.gz]

569 patients in five stratified folds. In data set k, fold k is the test set, fold k+1 the development set, and the
other three train; so every patient is once in a test set and once in a development set, never in both at a time.
Positive is malignant. --data gives the same file from elsewhere (scikit-learn's breast_cancer.csv).
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import PACKAGE_DATA, refuse, rounded, write_table

FOLDS = 5
COLUMNS = ("system", "set", "dataset", "trial", "label", "score")
Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def read_data(path: Path | None) -> tuple[Array, Labels]:
    """Return the 30 measurements, and 1 for malignant, 0 for benign."""
    if path is None:
        measured, target = load_breast_cancer(return_X_y=True)
    else:
        try:
            with path.open(newline="", encoding="utf-8") as file:
                header, *rows = csv.reader(file)
        except (OSError, ValueError) as error:
            refuse(f"{path}: cannot be read as scikit-learn's breast_cancer.csv ({error})")
        if header != ["569", "30", "malignant", "benign"] or [len(row) for row in rows] != [31] * 569:
            refuse(f"{path}: not scikit-learn's breast_cancer.csv (569 patients, 30 measurements, malignant, benign)")
        table = np.array(rows, dtype=np.float64)
        measured, target = table[:, :30], table[:, 30]
    # scikit-learn codes malignant as 0 and benign as 1.
    return measured, (np.asarray(target) == 0).astype(np.int64)


def margin(model: Any, rows: Array) -> Array:
    """Score with the signed distance from the boundary."""
    return np.asarray(model.decision_function(rows))


def log_odds(model: Any, rows: Array) -> Array:
    """Score with the logarithm of the odds of malignant."""
    by_class = model.predict_joint_log_proba(rows)
    return np.asarray(by_class[:, 1] - by_class[:, 0])


def share(model: Any, rows: Array) -> Array:
    """Score with the share of malignant among the neighbours: sixteen values, so many scores are equal."""
    return np.asarray(model.predict_proba(rows)[:, 1])


def make_systems() -> dict[str, tuple[Any, Callable[[Any, Array], Array]]]:
    """Return each classifier, and how it scores."""
    return {
        "logistic": (make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), margin),
        "naive-bayes": (GaussianNB(), log_odds),
        "neighbours": (make_pipeline(StandardScaler(), KNeighborsClassifier(15)), share),
    }


def make_rows(measured: Array, malignant: Labels) -> Iterator[tuple[str, ...]]:
    """Train on three folds, score the two others."""
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    folds = [held_out for _, held_out in splitter.split(measured, malignant)]
    for system, (model, score) in make_systems().items():
        for number in range(FOLDS):
            sets = {"dev": folds[(number + 1) % FOLDS], "test": folds[number]}
            train = np.setdiff1d(np.arange(malignant.size), np.concatenate(list(sets.values())))
            model.fit(measured[train], malignant[train])
            for name, patients in sets.items():
                for patient, value in zip(patients, score(model, measured[patients]), strict=True):
                    label = str(malignant[patient])
                    yield system, name, f"fold{number + 1}", f"p{patient + 1:03d}", label, rounded(value, 4)


def main(arguments: list[str]) -> None:
    """Make the table."""
    data = None
    if arguments[:1] == ["--data"] and len(arguments) > 1:
        data, arguments = Path(arguments[1]), arguments[2:]
    if len(arguments) > 1 or arguments[:1] == ["--data"]:
        refuse("usage: python examples/make_cancer.py [--data breast_cancer.csv] [OUTPUT.csv.gz]")
    output = Path(arguments[0]) if arguments else PACKAGE_DATA / "cancer.csv.gz"
    write_table(output, COLUMNS, make_rows(*read_data(data)))


if __name__ == "__main__":
    main(sys.argv[1:])
