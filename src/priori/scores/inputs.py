"""Inputs: what a caller gave, as a set of scores. The only place that tells a set of scores from a frame."""

from __future__ import annotations

import os
from typing import Any

from priori.base.errors import OptionError, PrioriError
from priori.scores import ScoreSet


def as_score_set(data: Any, refusal: PrioriError | None = None) -> ScoreSet:
    """Return a set of scores as it is, and a frame, a relation or a Spark DataFrame as one that stays where it is.

    Anything else is an error: ``refusal``, or one that says what a set of scores may be.
    """
    scores = score_set_or_none(data)
    if scores is not None:
        return scores
    if refusal is not None:
        raise refusal
    if isinstance(data, (str, os.PathLike)):
        raise OptionError(f"a path is no set of scores; read it with priori.read or priori.scan: {os.fspath(data)!r}")
    from priori.engines import scan

    return scan(data)  # which says what it can open


def score_set_or_none(data: Any) -> ScoreSet | None:
    """Return the same, and None where something is neither a set of scores nor a frame."""
    if isinstance(data, ScoreSet):
        return data
    import narwhals as nw

    if nw.from_native(data, pass_through=True) is data:
        return None
    from priori.engines import scan  # not above: most scores are in memory, and engines take long to import

    return scan(data)
