"""Splitting one set: users stay whole, parts are alike, times are compared as times; rows that count more than once."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori.base.errors import InputError, OptionError
from priori.scores.derived import fold_of_trials, restrict
from priori.scores.overlaps import repeated_ids, times_repeated
from validation.coverage.simulation import population


def people(classes: str = "both", users: int = 30, each: int = 6) -> priori.Scores:
    """Trials of users that have both classes, or one each as patients do."""
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(users), each)
    label = np.tile([0, 1], user.size // 2) if classes == "both" else user % 3 == 0
    time = np.datetime64("2024-01-01") + (user - 10).astype("timedelta64[D]") + np.tile([0, 0, 0, 0, 0, 4], users)
    return priori.Scores.from_predictions(label * 1, rng.normal(label), user=user, time=time.astype(str))


def names(scores: priori.Scores) -> set[int]:
    assert scores.users is not None
    codes = [trials.user for trials in (scores.negative, scores.positive) if trials.user is not None]
    return set(scores.users.values[np.concatenate(codes)].tolist())


@pytest.mark.parametrize("classes", ["both", "one"])
def test_a_random_split_keeps_users_whole_and_kinds_alike(classes: str) -> None:
    whole = people(classes)
    dev, test = whole.split(0.4, rng=3)
    assert names(dev) & names(test) == set()
    assert len(names(dev)) == 12
    assert len(names(test)) == 18
    assert len(dev) + len(test) == len(whole)
    if classes == "one":  # 10 patients and 20 healthy people
        assert dev.n_positives == 4 * 6
        assert dev.n_negatives == 8 * 6
    again = whole.split(0.4, rng=3)[0]
    assert names(again) == names(dev)
    assert names(whole.split(0.4, rng=4)[0]) != names(dev)


def test_without_users_trials_of_each_class_are_drawn() -> None:
    whole = priori.Scores.from_arrays(np.arange(20.0), np.arange(8.0))
    dev, test = whole.split(0.25)
    assert (dev.n_negatives, dev.n_positives, test.n_negatives, test.n_positives) == (5, 2, 15, 6)
    together = sorted([*dev.negatives.tolist(), *test.negatives.tolist()])
    assert together == whole.negatives.tolist()


def test_a_split_by_time_leaves_out_later_trials_of_users_seen_before() -> None:
    whole = people()
    dev, test = whole.split(before="2024-01-01")
    # users 0 to 9 begin before; each one's sixth trial comes four days later, so those of 6 to 9 fall behind the date
    assert names(dev) == set(range(10))
    assert names(test) == set(range(10, 30))
    assert len(dev) == 10 * 6 - 4
    assert len(test) == 20 * 6
    dev, test = whole.split(before="2024-01-01", together=False)
    assert len(test) == 20 * 6 + 4
    assert names(dev) & names(test) == {6, 7, 8, 9}


def test_times_with_zones_are_compared_in_utc() -> None:
    scores = priori.Scores.from_predictions(
        [0, 1, 0, 1], [1, 2, 3, 4], time=["2024-01-01T00:30+01:00"] * 2 + ["2024-01-01T00:30"] * 2
    )
    dev, _ = scores.split(before="2024-01-01")
    assert dev.negatives.tolist() == [1.0]


def test_a_split_by_users() -> None:
    dev, test = people().split(users=[3, 4])
    assert names(dev) == {3, 4}
    assert len(names(test)) == 28


def test_folds_are_dealt_evenly_and_users_are_in_one() -> None:
    whole = people("one")
    fold = fold_of_trials(whole, 5)
    owners = [{} for _ in range(2)]
    for own, trials, owner in zip(fold, (whole.negative, whole.positive), owners, strict=True):
        for number, user in zip(own.tolist(), trials.user.tolist(), strict=True):
            assert owner.setdefault(user, number) == number
        assert set(np.bincount(list(owner.values())).tolist()) == {len(owner) // 5}


def test_what_cannot_be_split_is_refused() -> None:
    whole = people()
    with pytest.raises(OptionError, match="between 0 and 1"):
        whole.split(1.0)
    with pytest.raises(InputError, match="no user is new"):
        whole.split(before="2024-03-01")
    with pytest.raises(InputError, match="no date"):
        whole.split(before="soon")
    with pytest.raises(InputError, match="times of the trials are not known"):
        priori.Scores.from_arrays([1, 2], [3, 4]).split(before="2024-01-01")
    with pytest.raises(OptionError, match=r"fold [0-9] has no positive trial"):
        fold_of_trials(priori.Scores.from_arrays([1, 2, 3, 4], [3, 4]), 3)
    with pytest.raises(OptionError, match="whole number from 2 to"):
        fold_of_trials(whole, 1)


# -- weights ---------------------------------------------------------------------------------------------------------


def test_a_weight_is_how_often_a_row_counts() -> None:
    label, score, weight = [0, 0, 1, 1, 1], [0.1, 0.6, 0.3, 0.7, 0.9], [3, 1, 2, 0, 4]
    counted = priori.Scores.from_predictions(label, score, weight=weight, trial=[*"abcde"])
    by_hand = priori.Scores.from_predictions(np.repeat(label, weight), np.repeat(score, weight))
    assert counted.negatives.tolist() == by_hand.negatives.tolist()
    assert counted.positives.tolist() == by_hand.positives.tolist()
    assert priori.epc(counted, counted, points=5).outcomes.fp.tolist() == (
        priori.epc(by_hand, by_hand, points=5).outcomes.fp.tolist()
    )
    assert counted.negative.trial.tolist() == ["a", "a (2)", "a (3)", "b"]
    assert repeated_ids(counted) == 0
    arrays = priori.Scores.from_arrays([0.1, 0.6], [0.3, 0.7, 0.9], negative_weight=[3, 1], positive_weight=[2, 0, 4])
    assert arrays.positives.tolist() == by_hand.positives.tolist()


def test_rows_that_count_twice_are_no_file_pasted_twice() -> None:
    score, label = np.arange(12.0), np.tile([0, 1], 6)
    assert times_repeated(priori.Scores.from_predictions(np.tile(label, 2), np.tile(score, 2))) == 2
    assert times_repeated(priori.Scores.from_predictions(label, score, weight=np.full(12, 2))) == 1


@pytest.mark.parametrize("weight", [[0.5, 1, 1], [-1, 1, 1], [np.nan, 1, 1], [1, 1]])
def test_other_weights_are_refused(weight: list[float]) -> None:
    with pytest.raises(InputError, match=r"whole number|for 3 scores"):
        priori.Scores.from_predictions([0, 1, 1], [1, 2, 3], weight=weight)


@pytest.mark.parametrize("weight", [[2**62] * 4, [2**63 - 1, 1, 1, 1], [1e308] * 4, [10**400, 1, 1, 1], [5e7] * 4])
def test_more_trials_than_fit_are_refused_before_weights_are_added(weight: list[float]) -> None:
    with pytest.raises(InputError, match=r"weight"):
        priori.Scores.from_predictions([0, 1, 0, 1], [1, 2, 3, 4], weight=weight)
    with pytest.raises(InputError, match=r"weight"):
        priori.Scores.from_arrays([1, 2, 3, 4], [1], negative_weight=weight)


def test_weights_and_times_are_read_from_files_and_frames(tmp_path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"label": [0, 1, 1, 0], "score": [1.0, 2.0, 3.0, 4.0], "n": [2, 1, 3, 1]})
    frame["day"] = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-02-01", "2024-02-01"])
    named = {"weight": "n", "time": "day"}
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame.to_parquet(tmp_path / "all.parquet")
    for scores in (
        priori.read(tmp_path / "all.csv", columns=named),
        priori.read(tmp_path / "all.parquet", columns=named),
        priori.Scores.from_frame(frame, columns=named),
    ):
        dev, test = scores.split(before="2024-01-15")
        assert (dev.n_negatives, dev.n_positives, test.n_negatives, test.n_positives) == (2, 1, 1, 3)
    with pytest.raises(OptionError, match="in memory only"):
        priori.scan(str(tmp_path / "all.parquet"), columns=named, engine="duckdb")


def test_restricting_keeps_the_trials_of_some_users_and_nothing_else() -> None:
    scores = population(6, 3, 4, crossed=True, rng=1)
    some = restrict(scores, ["u2", "u5"])
    assert some.n_users == 2
    names = some.users.values
    assert set(names[some.negative.user]) == set(names[some.positive.user]) == {"u2", "u5"}
    for kept, whole in ((some.negative, scores.negative), (some.positive, scores.positive)):
        chosen = np.isin(scores.users.values[whole.user], ["u2", "u5"])
        np.testing.assert_array_equal(kept.score, whole.score[chosen])
        np.testing.assert_array_equal(kept.probe_user, whole.probe_user[chosen])


def test_users_may_be_numbers_and_must_be_there_with_both_classes() -> None:
    scores = priori.Scores.from_predictions([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], user=[1, 1, 2, 3])
    assert len(restrict(scores, ["1"])) == len(restrict(scores, [1])) == 2
    with pytest.raises(InputError, match="no user is called"):
        restrict(scores, [4])
    with pytest.raises(InputError, match="no positive trial"):
        restrict(scores, [2])
    with pytest.raises(InputError, match="not known"):
        restrict(priori.Scores.from_arrays([0.0], [1.0]), ["a"])
