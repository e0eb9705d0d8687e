"""Vocabulary: what people call the classes of a task and its errors, and the terms of the page in a sentence each."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from priori.base.errors import MARK

if TYPE_CHECKING:
    from priori.studies.evaluation import Study

#: What the ranges of a threshold are called: as the heading of a column, and where nothing beside explains it.
RANGES = {
    "new": ("other sets choose", "other development sets choose"),
    "best": ("population's best", "best in the population"),
    "good": ("as good here", "as good on the development set"),
}


@dataclass(frozen=True)
class TaskWords:
    """How a domain speaks: its classes, what an error does to one of each, and what to avoid at either end of alpha.

    ``people`` are those whose trials belong together; ``unattacked`` the negatives that are no attacks, where there are
    attacks among them.
    """

    positives: str
    negatives: str
    missed: str
    let_in: str
    missing: str
    letting_in: str
    people: str = "users"
    unattacked: str = ""

    def error(self, kind: str) -> tuple[str, str]:
        """Return what trials of a kind (positives, negatives, attacks) are called, and what their error is."""
        negatives = self.unattacked or self.negatives
        known = {"positives": (self.positives, self.missed), "negatives": (negatives, self.let_in)}
        return known.get(kind, (kind, self.let_in))

    def attacked(self, alone: bool) -> TaskWords:
        """Return the same words where attacks are among the negatives, or where they are ``alone``."""
        negatives = "attacks" if alone else f"{self.negatives} and attacks"
        letting_in = self.letting_in.replace(self.negatives, negatives)
        return replace(self, negatives=negatives, letting_in=letting_in, unattacked=self.negatives)

    def said(self, marked: str) -> str:
        """Return a message with its word for users; arguments in it, which are marked, stay as they are.

        Examples
        --------
        >>> WORDS["fraud"].said("8 users: the next user may differ")
        '8 accounts: the next account may differ'
        """
        parts, one = marked.split(MARK), self.people.removesuffix("s")
        words = {"users": self.people, "user": one, "Users": self.people.capitalize(), "User": one.capitalize()}
        for number in range(0, len(parts), 2):
            parts[number] = re.sub(r"(?<![\w-])[Uu]sers?(?![\w-])", lambda found: words[found[0]], parts[number])
        return MARK.join(parts)


PLAIN = TaskWords(
    "positives", "negatives", "are rejected", "are accepted", "rejecting positives", "accepting negatives"
)
WORDS: dict[str, TaskWords] = {
    "authentication": TaskWords(
        "genuine users", "impostors", "are turned away", "get in", "turning genuine users away", "letting impostors in"
    ),
    "detection": TaskWords(
        "positives", "negatives", "are missed", "raise a false alarm", "missing positives", "false alarms"
    ),
    "fraud": TaskWords(
        "frauds",
        "honest transactions",
        "go through",
        "are stopped",
        "letting frauds through",
        "stopping honest transactions",
        "accounts",
    ),
    "texts": TaskWords(
        "machine-written texts",
        "human-written texts",
        "are missed",
        "are wrongly flagged",
        "missing machine-written texts",
        "flagging human-written texts",
        "authors",
    ),
    "retrieval": TaskWords(
        "wanted items",
        "unwanted items",
        "are missed",
        "are returned",
        "missing wanted items",
        "returning unwanted items",
    ),
    "spam": TaskWords(
        "spam messages",
        "wanted messages",
        "get through",
        "are filtered out",
        "letting spam through",
        "filtering out wanted messages",
        "senders",
    ),
    "diagnosis": TaskWords(
        "ill people",
        "healthy people",
        "are missed",
        "get a false alarm",
        "missing ill people",
        "false alarms",
        "patients",
    ),
}


def study_words(study: Study) -> TaskWords:
    """Return the words that a study is told in; impostors only where trials name both people, or there are attacks."""
    task, test, kinds = study.settings.domain, study.members[0].curve.test, study.members[0].rates[study.at]
    words = WORDS.get(task.name, PLAIN)
    if "attacks" in kinds:
        return words.attacked(alone="negatives" not in kinds)
    return PLAIN if task.name == "authentication" and not test.has_identities else words


#: Each term as a page writes it, and what it means.
GLOSSARY: dict[str, str] = {
    "FAR": "False acceptance rate: the share of negatives that are wrongly accepted.",
    "FRR": "False rejection rate: the share of positives that are wrongly rejected.",
    "HTER": "Half total error rate: the mean of FAR (false acceptance rate) and FRR (false rejection rate), so the "
    "share of errors among trials of which half are positives.",
    "EER": "Equal error rate: the error rate at the threshold, read from the test set itself, where FAR equals FRR.",
    "AUC": "Area under the ROC curve: how often a positive scores higher than a negative.",
    "alpha": "The trade-off between the two errors, from 0 (only rejecting positives counts) to 1 (only accepting "
    "negatives counts); 0.5 is equal costs.",
    "threshold": "A trial is accepted when its score is greater than the threshold; of distances, when it is less.",
    "development set": "The scores that thresholds are chosen on.",
    "test set": "Other scores, looked at only after the thresholds were fixed.",
    "a priori": "With thresholds fixed before the test set was looked at, as they are in use.",
    "a posteriori": "With thresholds chosen on the very data they are judged on; it looks better than use will be.",
    "expected difference": "The mean of the difference over development sets like this one; the observed difference is "
    "that of the thresholds chosen here.",
    "optimism": "How much better the a posteriori value looks than the one with the threshold fixed in advance.",
    "EPC": "Expected Performance Curve: the test set's value at every alpha, each threshold chosen on the development "
    "set.",
    "ROC": "Receiver operating characteristic: true against false positive rate at every threshold, a posteriori.",
    "DET": "Detection error trade-off: FRR against FAR at every threshold on normal-deviate axes, a posteriori.",
    "interval": "A range that holds the true value in the stated share of studies like this one.",
    "p-value": "How often chance alone would show a difference at least this large.",
    "max-T": "A test of all pairs together, so that many comparisons do not make false findings likely.",
    "claim: method": "The comparison is about systems tuned on similar development sets.",
    "claim: deployed": "The comparison is about these thresholds.",
    "Kendall's tau": "The agreement of two rankings: 1 is the same order, −1 the reverse.",
    "F1": "The harmonic mean of precision and recall.",
    "Balanced accuracy": "The mean of sensitivity and specificity.",
    "precision": "The share of accepted trials that are positives.",
    "recall": "The share of positives that are accepted.",
    "sensitivity": "The share of positives that are accepted.",
    "specificity": "The share of negatives that are rejected.",
    "z-test": "A test that treats trials as independent, whoever they are of.",
}
