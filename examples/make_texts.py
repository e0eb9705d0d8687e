"""Scores of four detectors of machine-written text, tuned on news and used on medical answers.

Usage: python examples/make_texts.py glimpse_scores.csv.gz [OUTPUT.csv.gz]

Glimpse (Bao et al.) published statistics of texts under several language models. A detector here is a logistic
regression on all statistics that one language model gives. It learns on half of the news (xsum, even prompts), its
threshold is chosen on the other half (odd prompts), and it is tested on medical answers (pubmed). Positive is machine:
one text of each of five writing models stands beside one human text for each prompt, and the prompt is the user.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import PACKAGE_DATA, refuse, rounded, write_table

COLUMNS = ("system", "set", "user", "trial", "label", "score")
#: The language models whose statistics a detector reads.
SYSTEMS = {"babbage": "babbage-002", "davinci": "davinci-002", "gpt-3.5": "gpt-35-turbo-1106", "gpt-4": "gpt-4-1106"}
NEWS, MEDICAL = "xsum", "pubmed"


class Text(NamedTuple):
    """A text: its domain, prompt and writer, and whether a machine wrote it."""

    domain: str
    prompt: int
    writer: str
    label: int


def read_statistics(path: Path) -> dict[Text, dict[str, float]]:
    """Return the statistics of each text; a human text, which every writer's table repeats, is kept once."""
    texts: dict[Text, dict[str, float]] = {}
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["exp"] == "exp_main" and row["set"] in (NEWS, MEDICAL):
                    writer = row["source"] if row["label"] == "1" else "human"
                    text = Text(row["set"], int(row["prompt"]), writer, int(row["label"]))
                    texts.setdefault(text, {}).setdefault(row["system"], float(row["score"]))
    except (OSError, EOFError, KeyError, ValueError) as error:
        refuse(f"{path}: cannot be read ({error}); give Glimpse's table exp,source,system,set,score,label,prompt")
    if not texts:
        refuse(f"{path}: no texts of {NEWS} and {MEDICAL}; give Glimpse's table")
    return texts


def make_rows(texts: dict[Text, dict[str, float]]) -> Iterator[tuple[str, ...]]:
    """Learn on even prompts of the news, score the odd ones and the medical answers; only complete texts count."""
    names = {
        system: sorted({name for known in texts.values() for name in known if _reads(name, model)})
        for system, model in SYSTEMS.items()
    }
    needed = {name for own in names.values() for name in own}
    complete = sorted(text for text, known in texts.items() if needed <= known.keys())
    train = [text for text in complete if text.domain == NEWS and text.prompt % 2 == 0]
    sets = {
        "dev": [text for text in complete if text.domain == NEWS and text.prompt % 2 == 1],
        "test": [text for text in complete if text.domain == MEDICAL],
    }
    for system, own in names.items():
        model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=2000))
        model.fit([[texts[text][name] for name in own] for text in train], [text.label for text in train])
        for part, chosen in sets.items():
            scores = model.decision_function(np.array([[texts[text][name] for name in own] for text in chosen]))
            for text, score in zip(chosen, scores, strict=True):
                user = f"{text.domain}{text.prompt:03d}"
                yield system, part, user, f"{user}-{text.writer}", str(text.label), rounded(score, 3)


def _reads(statistic: str, model: str) -> bool:
    """Tell whether a statistic needs this language model alone, and no text that it wrote itself (as DNA-GPT's do)."""
    return statistic.startswith(f"{model}.") and not statistic.endswith("dna_gpt")


def main(arguments: list[str]) -> None:
    """Make the table."""
    if not 1 <= len(arguments) <= 2:
        refuse("usage: python examples/make_texts.py glimpse_scores.csv.gz [OUTPUT.csv.gz]")
    output = Path(arguments[1]) if len(arguments) == 2 else PACKAGE_DATA / "texts.csv.gz"
    write_table(output, COLUMNS, make_rows(read_statistics(Path(arguments[0]))))


if __name__ == "__main__":
    main(sys.argv[1:])
