"""Who was really there: names that are no person's are no identities, wherever trials come from."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import brute
import priori
from nobody import attacked
from priori import Scores
from priori.uncertainty.bands.bands import make_band
from priori.uncertainty.bootstrap.resampling import Resampling
from validation.coverage.simulation import population


def people(probe: list[str], user: list[str] | None = None) -> Scores:
    """Return as many negatives as are given, and a positive of each user."""
    claimed = user or [*"abc"] * (len(probe) // 3)
    own = sorted(set(claimed))
    return Scores.from_predictions(
        [0] * len(probe) + [1] * len(own), np.arange(len(probe) + len(own)), user=claimed + own, probe_user=probe + own
    )


def partners(scores: Scores) -> list[str | None] | None:
    partner = scores.negative.partner
    assert scores.users is not None
    return None if partner is None else [None if one < 0 else str(scores.users.values[one]) for one in partner]


@pytest.mark.parametrize("word", ["attack", "Attack/mask", "spoof", "nontarget", "IMPOSTOR", "-", "unknown"])
def test_a_word_is_no_person(word: str) -> None:
    scores = people([word, "c", "x"])
    assert scores.nobody == (word,)
    assert partners(scores) == [None, "c", "x"]
    assert scores.has_identities


def test_whoever_claims_to_be_somebody_is_a_person() -> None:
    scores = people(["attack", "a", "a"], ["a", "attack", "b"])
    assert (scores.nobody, partners(scores)) == ((), ["attack", "a", "a"])


def test_one_name_in_most_trials_is_no_person() -> None:
    most = people(["x"] * 16 + ["a", "b", "y", "z", "y"])
    assert (most.nobody, (partners(most) or [])[16:]) == (("x",), ["a", "b", "y", "z", "y"])
    assert people(["x"] * 10 + ["y"] * 11).nobody == ("y",)
    assert people(["x"] * 9 + ["y"] * 9 + ["a", "b", "z"]).nobody == ()
    assert people(["x", "x", "y"]).nobody == ()  # of so few trials nothing can be told
    own = Scores.from_predictions([0, 1] * 20, range(40), user=[*"aabb"] * 10, probe_user=["x", "genuine"] * 20)
    assert (own.nobody, own.has_identities) == (("genuine", "x"), False)


def test_where_nobody_is_known_there_are_no_identities() -> None:
    scores = people(["attack"] * 6)
    assert (scores.has_users, scores.has_identities, scores.positive.probe_user) == (True, False, None)
    with pytest.raises(priori.OptionError, match="needs both identities of each trial"):
        priori.epc(scores, scores, alpha=[0.5]).band(bootstrap="crossed", n_resamples=10)


def test_a_label_of_attacks_is_no_person() -> None:
    text = b"u1 u1 p 0.1\nu1 u2 q 0.2\nu1 fake r 0.3\nu2 u2 s 0.4\nu2 u1 t 0.5\n"
    scores = priori.read(io.BytesIO(text), source="bob", attack_label="fake")
    assert (scores.nobody, scores.n_attacks, partners(scores)) == (("fake",), 1, ["u2", None, "u1"])
    assert priori.read(io.BytesIO(text), source="bob").nobody == ()


def test_scans_know_people_as_memory_does(tmp_path: Path) -> None:
    import pandas as pd

    scores = attacked(population(60, 9, 140, crossed=True, rng=1), 0.3)
    assert scores.users is not None
    names, frames = scores.users.values, []
    for label, trials in ((0, scores.negative), (1, scores.positive)):
        probe = np.where(trials.probe_user == trials.user, "attack", names[trials.probe_user])
        probe = names[trials.user] if label else probe
        columns = {"score": trials.score, "label": label, "user": names[trials.user], "probe_user": probe}
        frames.append(pd.DataFrame(columns))
    pd.concat(frames).to_csv(tmp_path / "trials.csv", index=False)
    table = priori.scan(tmp_path / "trials.csv", engine="duckdb", memory="1MB")
    assert not table.fits
    for dependence in ("user", "crossed"):
        there, here = (priori.rate_interval(each, 1.0, dependence=dependence) for each in (table, scores))
        assert (there.lower, there.upper) == pytest.approx((here.lower, here.upper))
    impostors = [priori.user_rates(each, 1.0).of_role("impostor") for each in (table, scores)]
    assert impostors[0]["user"].tolist() == impostors[1]["user"].tolist()
    assert "attack" not in impostors[0]["user"]
    assert impostors[0]["trials"].tolist() == impostors[1]["trials"].tolist()


@pytest.mark.parametrize("resample", ["test", "both"])
def test_a_trial_of_one_person_comes_as_often_as_he(resample: Any) -> None:
    dev, test = (attacked(population(12, 2, 11, crossed=True, rng=seed), 0.4, seed=seed) for seed in (1, 2))
    assert test.nobody == ("attack",)
    curve = priori.epc(dev, test, alpha=[0.5], measure="far")
    resampling = Resampling(bootstrap="crossed", n_resamples=1500, resample=resample, interval="percentile")
    found = make_band(curve, resampling, keep=True).replicates
    assert found is not None
    rng = np.random.default_rng(0)
    drawn, chosen = brute.weights(test, "crossed", rng, 1500), np.full(1500, curve.threshold[0])
    if resample == "both":
        chosen = brute.choose(dev, brute.weights(dev, "crossed", rng, 1500), "wer", curve.fractions[0])
    accepted = (drawn[0] * (test.negative.score > chosen[:, None])).sum(axis=1)
    expected = brute.rate(accepted, drawn[0].sum(axis=1))
    assert stats.ks_2samp(found[:, 0], expected).pvalue > 1e-3
