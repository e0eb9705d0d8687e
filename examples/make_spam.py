"""Spam scores of four classifiers from the SMS Spam Collection (5574 messages).

Usage: python examples/make_spam.py SMSSpamCollection[.tsv][.gz] [OUTPUT.csv.gz]

A message sent twice would be in two sets, so only its first copy is kept. Five random splits, 40 % to train, 30 % to
develop, 30 % to test, each a data set of its own. Positive is spam. A trial is named after its line in the file
and its split.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC
from tables import PACKAGE_DATA, refuse, repeat_rng, rounded, write_table

SPLITS, SEED = 5, 2011
COLUMNS = ("system", "set", "dataset", "trial", "label", "score")
Scorer = Callable[[Pipeline, list[str]], NDArray[np.float64]]


def read_messages(path: Path) -> tuple[list[str], list[str], list[int]]:
    """Return the line number, text and label (1 for spam) of each different message."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
    except UnicodeDecodeError:
        refuse(f"{path}: not text; give the SMS Spam Collection, label TAB message")
    except (OSError, EOFError) as error:
        refuse(f"{path}: cannot be read ({error}); give the SMS Spam Collection, label TAB message")
    lines: list[str] = []
    messages: dict[str, int] = {}
    labels: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        label, tab, message = line.rstrip("\r").partition("\t")
        if not tab or label not in ("ham", "spam"):
            refuse(f"{path}, line {number}: not 'ham' or 'spam', a tab and a message; is it the SMS Spam Collection?")
        labels.append(label)
        if message not in messages:
            messages[message] = int(label == "spam")
            lines.append(f"m{number:04d}")
    if (labels.count("ham"), labels.count("spam")) != (4827, 747):
        refuse(f"{path}: {len(labels)} messages where the SMS Spam Collection v.1 has 4827 ham and 747 spam")
    return lines, list(messages), list(messages.values())


def decision(model: Pipeline, texts: list[str]) -> NDArray[np.float64]:
    """Score with the signed distance from the boundary."""
    return np.asarray(model.decision_function(texts))


def log_odds(model: Pipeline, texts: list[str]) -> NDArray[np.float64]:
    """Score with the logarithm of the odds of spam."""
    by_class = model[-1].predict_joint_log_proba(model[:-1].transform(texts))
    return np.asarray(by_class[:, 1] - by_class[:, 0])


def make_systems() -> dict[str, tuple[Pipeline, Scorer]]:
    """Return each classifier, at scikit-learn's own settings, and how it scores."""
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, min_df=2)
    return {
        "naive-bayes": (make_pipeline(CountVectorizer(), MultinomialNB()), log_odds),
        "svm": (make_pipeline(TfidfVectorizer(), LinearSVC(random_state=0)), decision),
        "logistic-words": (make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000)), decision),
        "logistic-characters": (make_pipeline(characters, LogisticRegression(max_iter=1000)), decision),
    }


def make_rows(lines: list[str], texts: list[str], labels: list[int]) -> Iterator[tuple[str, ...]]:
    """Train on 40 % of each split, score the two other parts."""
    first, second = len(texts) * 4 // 10, len(texts) * 7 // 10
    for system, (model, score) in make_systems().items():
        for number in range(1, SPLITS + 1):
            order = repeat_rng(SEED, number).permutation(len(texts))
            train, sets = order[:first], {"dev": np.sort(order[first:second]), "test": np.sort(order[second:])}
            model.fit([texts[index] for index in train], [labels[index] for index in train])
            for name, chosen in sets.items():
                values = score(model, [texts[index] for index in chosen])
                for index, value in zip(chosen, values, strict=True):
                    # A message is in several splits, a trial in one: its id must pair it with no other.
                    trial = f"{lines[index]}-{number}"
                    yield system, name, f"split{number}", trial, str(labels[index]), rounded(value, 3)


def main(arguments: list[str]) -> None:
    """Make the table."""
    if not 1 <= len(arguments) <= 2:
        refuse("usage: python examples/make_spam.py SMSSpamCollection.tsv.gz [OUTPUT.csv.gz]")
    output = Path(arguments[1]) if len(arguments) == 2 else PACKAGE_DATA / "spam.csv.gz"
    write_table(output, COLUMNS, make_rows(*read_messages(Path(arguments[0]))))


if __name__ == "__main__":
    main(sys.argv[1:])
