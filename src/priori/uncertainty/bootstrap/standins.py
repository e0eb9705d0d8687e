"""Sets that live elsewhere, for a bootstrap: counts between thresholds, or in narrow cells, stand in for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from priori.base.errors import InputError
from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.scores import Scores
from priori.scores.remote import Remote

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.resampling import Resampling

__all__ = ["apart", "between", "redrawable"]


def between(tests: Sequence[Scores], edges: Sequence[Floats], *, by_user: bool) -> list[Scores]:
    """Return sets that hold between ascending edges what the given ones hold there: they themselves, or stand-ins.

    Systems given together hold the same trials; those of stand-ins are in one order.
    """
    first, *others = tests
    away = [isinstance(test, Remote) for test in tests]
    if not any(away):
        return list(tests)
    if not all(away):
        raise InputError("one of the two test sets is in memory and the other is not; read both in the same way")
    assert isinstance(first, Remote)
    return first.stand_ins(others, edges, by_user=by_user)


def apart(tests: Sequence[Scores], edges: Sequence[Floats]) -> list[Scores] | None:
    """Return stand-ins that are counted each on its own, where users come with all their trials; None if they cannot.

    Which trial of a user is which then does not matter, and there are far fewer counts by user than by user and the
    gaps of two systems. The trials must be the same all the same, and have the same users.
    """
    first, *others = tests
    if not (others and isinstance(first, Remote)) or not all(
        isinstance(other, Remote) and first.same_trials(other) for other in others
    ):
        return None
    return [
        found
        for test, edge in zip(tests, edges, strict=True)
        for found in test.stand_ins([], [edge], by_user=True)  # type: ignore[attr-defined]
    ]


def redrawable(curve: EPC, resampling: Resampling, *, paired: bool = False) -> tuple[EPC, tuple[str, ...]]:
    """Return the curve with sets of which a bootstrap can redraw what a resampling says, and notes on stand-ins.

    Where thresholds are fixed, counts are enough and the sets stay where they are.
    """
    if resampling.resample != "both":
        return curve, ()
    by_user = resampling.may_keep_users and curve.test.has_users and curve.dev.has_users
    notes: list[str] = []
    sets: dict[str, Any] = {}
    for role, scores in (("dev", curve.dev), ("test", curve.test)):
        if isinstance(scores, Remote):
            sets[role], note = scores.in_memory(by_user=by_user, paired=paired)
            notes += [note] if note else []
    return (replace(curve, **sets) if sets else curve), tuple(notes)
