"""Small studies for the tests of the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from priori.scores import Scores
from priori.scores.systems import SourceFile, System
from priori.studies.evaluation import Settings, Study, make_study

HOSTILE = (
    '<img src=x onerror="window.stolen=1">\'"&</script><script>window.stolen=1</script>',
    "😀 \u202e drawkcab \u2066 مرحبا ${x} %{y} {{ 7*7 }} $\\frac",
    "w" * 10_000,
)


def scores(shift: float, seed: int, *, negatives: int = 240, positives: int = 120, users: int = 0) -> Scores:
    """Return normal scores; with users, in turn."""
    rng = np.random.default_rng(seed)
    who = {}
    if users:
        who = {"negative_user": np.arange(negatives) % users, "positive_user": np.arange(positives) % users}
    return Scores.from_arrays(rng.normal(0, 1, negatives), rng.normal(shift, 1, positives), **who)


def systems(*shifts: float, names: tuple[str, ...] = (), **sizes: Any) -> list[System]:
    """Return systems of given qualities."""
    called = names or tuple("ABCDEFGH"[: len(shifts)])
    found = []
    for at, (name, shift) in enumerate(zip(called, shifts, strict=True)):
        dev, test = scores(shift, 2 * at, **sizes), scores(shift, 2 * at + 1, **sizes)
        files = [SourceFile(f"{at}-{part}.csv", letters * 32) for part, letters in (("dev", "ab"), ("test", "cd"))]
        found.append(System(name, dev, test, *files))
    return found


_made: dict[str, Study] = {}


def study(*shifts: float, **options: Any) -> Study:
    """Return a study of systems of given qualities, made once in a run; ``fresh_study`` has the options."""
    asked = repr((shifts, sorted(options.items())))
    if asked not in _made:
        _made[asked] = fresh_study(*shifts, **options)
    return _made[asked]


def fresh_study(
    *shifts: float, names: tuple[str, ...] = (), sizes: dict[str, Any] | None = None, **settings: Any
) -> Study:
    """Make a study of systems of given qualities, with few resamples unless told otherwise."""
    chosen = Settings(**{"n_resamples": 200, "points": 21, **settings})
    return make_study(systems(*shifts, names=names, **(sizes or {})), chosen, command="priori report --system A a b")


def many(count: int, **settings: Any) -> Study:
    """Return a study of many systems, from bad to good and mixed up, at few alphas."""
    shifts = np.linspace(1.0, 3.5, count)[np.random.default_rng(1).permutation(count)]
    return study(
        *shifts.tolist(), names=tuple(f"system {number:02d}" for number in range(count)), **{"points": 5, **settings}
    )
