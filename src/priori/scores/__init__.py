"""Scores: what any set of scores answers; trials in memory; candidates for a threshold, labels, pairing."""

from priori.scores.in_memory import Scores
from priori.scores.score_set import BOUND, ScoreSet, condense, condense_all, counts_of
from priori.scores.trials import NAN_POLICIES, Names, NanPolicy, Trials, nan_error

__all__ = [
    "BOUND",
    "NAN_POLICIES",
    "Names",
    "NanPolicy",
    "ScoreSet",
    "Scores",
    "Trials",
    "condense",
    "condense_all",
    "counts_of",
    "nan_error",
]
