"""Systems that are drawn apart and do not know the same of their trials."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import priori
from priori.base.errors import OptionError

KNOWN = {"none": (), "users": ("user",), "identities": ("user", "probe_user")}


def curve(known: str, seed: int) -> priori.EPC:
    label, user = np.repeat([0, 1], 200), np.arange(400) % 25

    def drawn(which: int) -> priori.Scores:
        score = np.random.default_rng([seed, which]).normal(2 * label)
        columns = {"user": user + 100 * which, "probe_user": np.where(label == 1, user, (user + 1) % 25) + 100 * which}
        return priori.Scores.from_predictions(label, score, **{name: columns[name] for name in KNOWN[known]})

    return priori.epc(drawn(1), drawn(2), alpha=["0.5"], name=f"{known}{seed}")


@pytest.mark.parametrize(("a", "b"), [*product(KNOWN, KNOWN)])
def test_all_are_drawn_by_what_all_of_them_have(a: str, b: str) -> None:
    found = priori.compare(curve(a, 1), curve(b, 2), claim="deployed", unpaired=True, n_resamples=200)
    expected = {"none": "sample", "users": "user", "identities": "crossed"}
    assert found.settings["bootstrap"] == expected[min(a, b, key=list(KNOWN).index)]
    unused = "none" in (a, b) and a != b
    assert ("users-unused" in [caution.code for caution in found.warnings]) == unused


def test_what_one_of_them_lacks_cannot_be_asked_for() -> None:
    with pytest.raises(OptionError, match="the user bootstrap needs the user of each trial"):
        priori.compare(
            curve("users", 1), curve("none", 2), claim="deployed", unpaired=True, bootstrap="user", n_resamples=200
        )
