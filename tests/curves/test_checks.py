"""The traps: each is found where it is, said with its code, and seldom where it is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import priori
from priori import Scores
from priori.curves import checks
from priori.curves.checks import set_cautions
from priori.scores.pairing import shared_trials
from validation.coverage.simulation import population


def made(seed: int, shift: float = 2.0, negatives: int = 800, positives: int = 700) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores.from_arrays(rng.normal(0, 1, negatives), rng.normal(shift, 1, positives))


def mapped(scores: Scores, function: Any) -> Scores:
    return Scores.from_arrays(function(scores.negative.score), function(scores.positive.score))


def flipped(scores: Scores) -> Scores:
    return Scores.from_arrays(scores.positive.score, scores.negative.score)


def table(scores: Scores, ids: Any = None, users: Any = None) -> Scores:
    label = np.repeat([0, 1], [scores.n_negatives, scores.n_positives])
    score = np.concatenate([scores.negative.score, scores.positive.score])
    return Scores.from_predictions(label, score, trial=ids, user=users)


def found(dev: Any, test: Any, **options: Any) -> dict[str, str]:
    return {caution.code: str(caution) for caution in priori.epc(dev, test, **options).warnings}


DEV, TEST = made(1), made(2)


def test_good_data_raise_nothing() -> None:
    assert found(DEV, TEST) == {}
    assert found(DEV, TEST, alpha=["0.5"]) == {}


def test_good_data_seldom_raise_anything() -> None:
    """The checks of scale, direction and shared trials on 300 pairs of small sets, ties and heavy tails among them."""
    rng, alarms = np.random.default_rng(0), []
    for _ in range(100):
        for draw in (
            rng.normal,
            lambda at, sd, size: at + rng.standard_t(3, size),
            lambda at, sd, size: np.round(rng.normal(at, sd, size), 2),
        ):
            dev, test = (Scores.from_arrays(draw(0, 1, 40), draw(1.5, 1, 25)) for _ in range(2))
            alarms += found(dev, test)
    expected = {"few-units", "disagreement"}  # 25 positives have few errors; 3 standard deviations do happen
    assert [code for code in alarms if code not in expected] == []
    assert alarms.count("disagreement") <= 9


def test_sets_of_one_population_seldom_disagree() -> None:
    """Of two rates that differ by three standard deviations by chance there is one in 370; by users alone, one in 3."""
    alarms = 0
    for seed in range(0, 300, 2):
        dev, test = (
            population(40, 5, 39, user_effect_sd=0.3, probe_effect_sd=0.8, crossed=True, rng=seed + which)
            for which in range(2)
        )
        alarms += "disagreement" in found(dev, test, alpha=["0.5"])
    assert alarms <= 4
    dev, test = (population(40, 5, 39, probe_effect_sd=0.3, crossed=True, rng=seed) for seed in (1, 2))
    moved = replace(test, negative=replace(test.negative, score=test.negative.score + 0.8))
    assert "FAR" in found(dev, moved, alpha=["0.5"])["disagreement"]


def test_the_same_data() -> None:
    assert found(DEV, DEV)["same-data"].startswith("development and test set hold the same scores")
    again = Scores.from_arrays(DEV.negative.score[::-1], DEV.positive.score)
    assert "same-data" in found(DEV, again)
    assert not {"shared-trials", "shared-users"} & set(found(DEV, again))


def test_shared_trials_by_id() -> None:
    size = len(DEV)
    assert "shared-trials" not in found(table(DEV, np.arange(size)), table(TEST, np.arange(size)))  # ids counted anew
    score = np.concatenate([TEST.negative.score[:50], DEV.negative.score[50:]])
    some = Scores.from_arrays(score, TEST.positive.score)
    for ids in (np.arange(size), np.char.add("trial-", np.arange(size).astype(str))):
        text = found(table(DEV, ids), table(some, ids))["shared-trials"]
        assert text.startswith("750 of 1,500 test trials")


def test_the_same_id_in_another_data_set_is_another_trial() -> None:
    score, label, trial = np.arange(40) % 4, np.tile([0, 1], 20), np.arange(40)

    def of(folds: object) -> Scores:
        return Scores.from_predictions(label, score, trial=trial, dataset=folds)

    first, other = np.where(trial < 30, "a", "b"), np.where(trial < 30, "b", "a")
    assert shared_trials(of(first), of(other)) == 0
    assert shared_trials(of(first), of(np.full(40, "a"))) == 30


def test_repeated_trials() -> None:
    ids = np.arange(len(TEST))
    ids[10:30] = 5
    repeated = table(TEST, ids)
    text = found(DEV, repeated)["repeated-trials"]
    assert text.startswith("20 of 1,500 test trials repeat an id")
    assert [caution.code for caution in set_cautions(repeated)] == ["repeated-trials"]
    assert set_cautions(TEST) == ()


def test_reversed_scores() -> None:
    text = found(*(mapped(scores, np.negative) for scores in (DEV, TEST)))["reversed-scores"]
    assert text.startswith("positives score lower in development (AUC 0.0")
    assert "lower_is_better=True" in text
    (caution,) = set_cautions(mapped(TEST, np.negative))
    assert caution.code == "reversed-scores"
    assert priori.roc(mapped(TEST, np.negative)).warnings == (caution,)


def test_labels_flipped_between_the_sets() -> None:
    for sets, said in (((DEV, flipped(TEST)), "higher in dev"), ((flipped(DEV), TEST), "lower in dev")):
        codes = found(*sets)
        assert said in codes["flipped-labels"]
        assert not {"reversed-scores", "disagreement"} & set(codes)


@pytest.mark.parametrize(
    "change",
    [
        lambda score: 100 * score,
        lambda score: score / 50,
        lambda score: score + 10,
        lambda score: score - 10,
        lambda score: 1 / (1 + np.exp(-score)),
    ],
)
def test_different_scales(change: Any) -> None:
    assert "different-scales" in found(DEV, mapped(TEST, change))
    assert "different-scales" not in found(mapped(DEV, change), mapped(TEST, change))


def test_a_development_set_that_was_trained_on() -> None:
    text = found(made(1, shift=12), made(2))["dev-looks-trained-on"]
    assert "where the test set suggests" in text
    assert "dev-looks-trained-on" not in found(made(1, shift=12), made(2, shift=12))
    # Ten trials may be separated by chance.
    assert "dev-looks-trained-on" not in found(made(1, 12, negatives=5, positives=5), made(2))


def test_a_threshold_that_decides_nothing() -> None:
    poor = [made(seed, shift=0.1) for seed in (1, 2)]
    assert found(*poor, alpha=["0.1", "0.5"])["extreme-threshold"].startswith("at alpha 0.1 the threshold")
    assert "extreme-threshold" not in found(*poor)  # at alpha = 0.5 it decides
    assert "extreme-threshold" not in found(*poor, alpha=["0", "0.5", "1"])


def test_few_errors_are_counted_at_the_middle_or_the_only_alpha() -> None:
    few = Scores.from_arrays(np.r_[np.zeros(993), np.full(7, 5.0)] + np.arange(1000) / 1e4, 3 + np.arange(1000) / 1e4)
    dev = Scores.from_arrays(np.arange(1000) / 1e4, 3 + np.arange(1000) / 1e4)
    text = found(dev, few)["few-units"]
    assert text.startswith("7 false acceptances, no false rejection at alpha 0.5: ")
    assert found(dev, few, alpha=["0.3"])["few-units"].startswith(
        "7 false acceptances, no false rejection at alpha 0.3"
    )


def test_each_of_many_alphas_has_the_cautions_that_it_has_alone() -> None:
    curve = priori.epc(DEV, mapped(TEST, lambda score: score + 0.15), points=21)
    together = checks.curve_cautions(curve, range(21))
    assert together == [checks.curve_cautions(curve, [row])[0] for row in range(21)]
    codes = [{caution.code for caution in cautions} for cautions in together]
    assert 0 < sum("disagreement" in found for found in codes) < 21
    assert 0 < sum("few-units" in found for found in codes) < 21


def test_a_disagreement_that_is_explained_is_not_said() -> None:
    codes = found(made(1, shift=12), made(2))
    assert "dev-looks-trained-on" in codes
    assert "disagreement" not in codes


def test_users() -> None:
    users = np.arange(len(DEV)) % 30
    codes = found(table(DEV, users=users), table(TEST, users=users + 18))
    assert codes["shared-users"].startswith("12 of 30 test users are also development users")
    assert "few-units" not in codes
    codes = found(table(DEV, users=users % 8), table(TEST, users=users + 100))
    assert codes["few-units"].startswith("only 8 development users: ")
    assert "shared-users" not in codes


def test_shares_of_positives_are_compared_not_their_balance() -> None:
    rare = [made(seed, negatives=1500, positives=150) for seed in (1, 2)]
    assert "prior-shift" not in found(*rare, task="retrieval")
    shifted = found(rare[0], TEST, task="retrieval")["prior-shift"]
    assert "9.09 % positives in development, 46.7 % in test:" in shifted


def test_a_scan_finds_what_costs_no_further_scan(tmp_path: Path) -> None:
    path = tmp_path / "flipped.csv"
    rows = [
        f"{label},{score}"
        for label, scores in ((1, TEST.negative.score), (0, TEST.positive.score))
        for score in scores.tolist()
    ]
    path.write_text("label,score\n" + "\n".join(rows) + "\n")
    dev = tmp_path / "dev.csv"
    rows = [
        f"{label},{score}"
        for label, scores in ((0, DEV.negative.score), (1, DEV.positive.score))
        for score in scores.tolist()
    ]
    dev.write_text("label,score\n" + "\n".join(rows) + "\n")
    scanned = [priori.scan(str(each), engine="duckdb", announce=lambda line: None) for each in (dev, path)]
    assert all(each.scanned for each in scanned)
    assert "flipped-labels" in found(*scanned)
    assert "same-data" in found(scanned[0], scanned[0])
    rough, exact = (scanned[1].pairs_in_order(rough=each) / (2 * 800 * 700) for each in (True, False))
    assert rough == pytest.approx(exact, abs=1e-3)


def test_warnings_are_looked_for_when_asked_for() -> None:
    curve = priori.epc(DEV, DEV, points=3)
    assert "warnings" not in vars(curve)
    assert curve.warnings is curve.warnings
    assert "warnings" not in vars(curve.at([0.5]))


def test_they_go_into_files_and_come_back_with_their_codes() -> None:
    curve = priori.epc(DEV, DEV, points=3)
    read = priori.EPC.from_json(curve.to_json())
    assert [(line.code, str(line)) for line in read.summary()["warnings"]] == [
        (line.code, str(line)) for line in curve.warnings
    ]
    assert curve.to_dict()["warnings"][0]["code"] == "same-data"


def test_bands_and_comparisons_carry_the_warnings_of_their_curves() -> None:
    a, b = (priori.epc(DEV, each, alpha=["0.5"], name=name) for name, each in (("A", DEV), ("B", made(3))))
    assert [line.code for line in a.band(n_resamples=200).warnings] == ["same-data"]
    told = priori.compare(a, b, unpaired=True, n_resamples=200).warnings
    assert [(line.code, line[:25]) for line in told] == [("same-data", "A: development and test s")]


def test_a_notebook_shows_them_with_their_codes() -> None:
    curve = priori.epc(DEV, DEV, alpha=["0.5"])
    assert "<li>warning [same-data]: development and test set hold" in curve._repr_html_()


def test_an_average_carries_what_most_of_its_data_sets_warn_of() -> None:
    turned = {str(seed): mapped(made(seed), np.negative) for seed in range(4)} | {"4": made(4)}
    told = priori.average_epc(turned, turned, points=3).warnings
    assert [line.code for line in told if line.code != "few-sets"] == ["same-data", "reversed-scores"]
    assert told[-1].startswith("in 4 of 5 data sets positives score lower in development")
    devs, tests = ({str(seed): made(seed) for seed in seeds} for seeds in (range(4), range(4, 8)))
    good = priori.average_epc(
        dict(zip("abcd", devs.values(), strict=True)), dict(zip("abcd", tests.values(), strict=True)), points=3
    )
    assert {line.code for line in good.warnings} <= {"few-sets"}


@given(scores=st.lists(st.integers(0, 30), min_size=1, max_size=300))
def test_the_largest_tie_is_met_where_it_matters(scores: list[int]) -> None:
    ordered = np.sort(np.array(scores, dtype=float))
    largest = max(scores.count(score) for score in scores) / len(scores)
    found = checks._largest_tie(ordered)
    if largest >= checks.TIED and largest * len(scores) >= checks.FEWEST_TIED:
        assert found == largest
    else:
        assert found < checks.TIED or found == 0
