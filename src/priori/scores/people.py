"""Who was really there: a name that stands for many people, or for nobody, is no person.

A trial with such a name has one identity, the claimed one: its probe user is set to that, as it is where somebody
claims to be himself. Everything that keeps trials of one person together asks `Trials.partner`, which knows of neither.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.types import Codes, Index
from priori.scores.labels import attackers, normal
from priori.scores.sorting import counted
from priori.scores.trials import Names, Trials, codes_in_use

#: What stands for the real identity where nobody knows it, besides words for attacks; compared in lower case.
NOBODY = (
    "-",
    "none",
    "nobody",
    "unknown",
    "other",
    "others",
    "na",
    "n/a",
    "<na>",
    "nan",
    "null",
    "impostor",
    "impostors",
    "imposter",
    "nontarget",
    "non-target",
    "zero-effort",
)
#: A name that never claims, with more than this share of a class and so many trials, is not taken for one person's.
MOST, MANY = 0.5, 10


def no_people(
    names: NDArray[Any], probe: Codes, claimed: Index, number: NDArray[Any] | None = None, attack_label: Any = None
) -> Index:
    """Return the codes, among those who were really there, that are no person's; who claims to be somebody is one.

    Examples
    --------
    >>> names = np.array(["anna", "attack/mask", "bert", "carl"])
    >>> no_people(names, np.array([0, 0, 1, 2, 3], dtype=np.int32), np.array([0, 2])).tolist()
    [1]
    """
    strangers = np.setdiff1d(codes_in_use(probe), claimed)
    if not strangers.size:
        return strangers
    listed = names[strangers].tolist()
    attacks = set(attackers(listed, attack_label))
    times = counted(lambda part: probe[part].astype(np.int64), probe.size, names.size, number)
    words = np.array([name in attacks or normal(name) in NOBODY for name in listed], dtype=np.bool_)
    return np.asarray(strangers[words | (times[strangers] > max(MOST * times.sum(), MANY - 1))])


def settle_people(
    classes: tuple[Trials, Trials], users: Names | None, attack_label: Any = None
) -> tuple[tuple[Trials, Trials], tuple[str, ...]]:
    """Return the trials of both classes with people only, and the names that are none's.

    Where nobody is known besides the claimed identity of any negative, there is no column of real ones.
    """
    negative, positive = classes
    if users is None or any(trials.user is None or trials.probe_user is None for trials in classes):
        return classes, ()
    claimed, found, settled = codes_in_use(negative.user, positive.user), list[Index](), list[Trials]()
    for trials in classes:
        assert trials.user is not None
        assert trials.probe_user is not None
        nobody = no_people(users.values, trials.probe_user, claimed, trials.number, attack_label)
        if nobody.size:
            unknown = np.zeros(len(users), dtype=np.bool_)
            unknown[nobody] = True
            trials = replace(trials, probe_user=np.where(unknown[trials.probe_user], trials.user, trials.probe_user))
        found.append(nobody)
        settled.append(trials)
    if settled[0].partner is None:
        settled = [replace(trials, probe_user=None) for trials in settled]
    return (settled[0], settled[1]), tuple(users.values[np.unique(np.concatenate(found))].astype(str).tolist())


def unknown_impostors(nobody: tuple[str, ...]) -> Caution:
    """Say that the people are not known that such names stand for."""
    more = f" and {len(nobody) - 1} more names" * (len(nobody) > 1)
    return Caution(
        "unknown-impostors",
        f"{nobody[0]!r}{more} stands for nobody in particular: such trials go by their claimed user, and where few "
        "people made them, false acceptances are less sure than the interval says",
    )
