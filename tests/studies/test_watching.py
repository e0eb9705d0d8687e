"""Watching a deployed threshold: bets against products written out, false alarms, delays, and a state that survives."""

from __future__ import annotations

import json

import numpy as np
import pytest

import priori
from priori.cli import main
from priori.studies.watching import BETS, KEPT, MOST, WatchedRate, bounds, log_wealth


def stream(rng, trials, times=1.0, limit=0.01, users=200, spread=0.5):
    """Errors of users who differ strongly and return; their mean risk is the limit times something."""
    risk = rng.beta(spread, spread / limit - spread, users)
    risk *= limit / risk.mean()
    return rng.random(trials) < np.minimum(times * risk[rng.integers(0, users, trials)], 1)


def test_wealth_is_what_the_bets_written_out_win():
    wrong = np.random.default_rng(1).random(60) < 0.2
    for limit, above in ((0.1, True), (0.1, False), (0.6, True), (0.995, False)):
        most = MOST / limit if above else MOST / (1 - limit)
        bets = np.minimum(BETS, most) * (1 if above else -1)
        each = [np.prod([1 + bet * (x - limit) for x in wrong]) for bet in bets]
        assert log_wealth(wrong.sum(), wrong.size, limit, above=above) == pytest.approx(np.log(np.mean(each)))


def test_the_detector_is_its_recursion_and_batches_do_not_matter():
    rng = np.random.default_rng(2)
    wrong = rng.random(500) < 0.05
    whole, parts = (WatchedRate("far", 0.02) for _ in range(2))
    whole.update(wrong, 0.95, 1e5)
    for part in np.split(wrong, [1, 7, 200]):
        parts.update(part, 0.95, 1e5)
    held = np.zeros(BETS.size)
    for x in wrong:
        held = (held + 1) * (1 + np.minimum(BETS, MOST / 0.02) * (x - 0.02))
    np.testing.assert_allclose(np.exp(whole.detector), held, rtol=1e-9)
    np.testing.assert_allclose(whole.detector, parts.detector, rtol=1e-9)
    assert (whole.trials, whole.errors, whole.broken, whole.changed) == (
        parts.trials,
        parts.errors,
        parts.broken,
        parts.changed,
    )


def test_false_alarms_are_as_rare_as_said_and_a_doubled_rate_is_found():
    rng = np.random.default_rng(3)
    false, found = 0, []
    for _ in range(60):
        quiet, doubled = WatchedRate("far", 0.01), WatchedRate("far", 0.01)
        quiet.update(stream(rng, 20_000), 0.95, 1e9)
        doubled.update(stream(rng, 20_000, times=2), 0.95, 1e9)
        false += quiet.broken is not None
        found.append(doubled.broken or 20_000)
    # 5 % are allowed, over streams of any length: 3 of 60, and 8 by bad luck once in a hundred runs.
    assert false <= 8
    assert 300 < np.median(found) < 2500


def test_a_change_after_a_long_good_run_is_found_soon():
    rng = np.random.default_rng(4)
    watched = WatchedRate("far", 0.01)
    watched.update(np.concatenate([stream(rng, 30_000, 0.5), stream(rng, 10_000, 2.0)]), 0.95, 1e5)
    assert 30_000 < watched.changed < 34_000
    assert watched.broken is None or watched.broken > watched.changed


def test_a_large_batch_leaves_the_history_before_it():
    watched = WatchedRate("far", 0.01)
    rng = np.random.default_rng(7)
    for size in (1, 300, 5000, 200_000, 3):
        watched.update(stream(rng, size), 0.95, 1e9)
        seen = np.array(watched.history)[:, 0]
        assert seen.size <= KEPT
        assert (np.diff(seen) > 0).all()
        assert (seen[0], seen[-1]) == (1, watched.trials)
    # Even steps, as far as what was kept before allows.
    assert np.diff(seen).max() <= 3 * watched.trials / KEPT
    assert watched.history[-1] == (watched.trials, watched.errors)


def test_bounds_hold_the_rate_and_shrink():
    wide = bounds(2, 100)
    narrow = bounds(200, 10_000)
    assert wide[0] < narrow[0] < 0.02 < narrow[1] < wide[1]
    assert bounds(0, 0) == (0.0, 1.0)
    assert bounds(0, 1000)[0] == 0.0
    assert bounds(1000, 1000)[1] == 1.0


def test_a_state_on_disk_goes_on_where_it_stopped(tmp_path):
    rng = np.random.default_rng(5)
    score, label = rng.normal(size=4000), rng.integers(0, 2, 4000)
    whole = priori.Watch(1.5, {"far": 0.05, "frr": 0.9})
    whole.update(label, score)
    first = priori.Watch(1.5, {"far": 0.05, "frr": 0.9})
    first.update(label[:1500], score[:1500], batch="monday")
    first.save(tmp_path / "state.json")
    second = priori.Watch.load(tmp_path / "state.json")
    with pytest.raises(priori.InputError, match="counted before"):
        second.update(label[:1500], score[:1500], batch="monday")
    second.update(label[1500:], score[1500:])
    assert json.dumps(second.report()) == json.dumps(whole.report())
    assert second.alarm == whole.alarm


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limits": {}}, "give a limit"),
        ({"limits": {"eer": 0.1}}, "one of far, frr"),
        ({"limits": {"far": 0.0}}, "between 0 and 1"),
        ({"limits": {"far": 0.1}, "level": 1.0}, "level"),
        ({"limits": {"far": 0.1}, "change_every": 0.5}, "more than one trial"),
        ({"limits": {"far": 0.1}, "threshold": float("nan")}, "NaN"),
    ],
)
def test_what_cannot_be_watched_is_refused(options, said):
    with pytest.raises(priori.OptionError, match=said):
        priori.Watch(**{"threshold": 0.0, **options})


def test_bad_trials_are_refused():
    watch = priori.Watch(0.0, {"far": 0.1})
    with pytest.raises(priori.InputError, match="score 1 is NaN"):
        watch.update([0, 1], [1.0, float("nan")])
    with pytest.raises(priori.InputError, match="2 labels and 1 scores"):
        watch.update([0, 1], [1.0])


def test_unlabelled_trials_give_a_floor():
    watch = priori.Watch(0.0, {"far": 0.1})
    watch.update(None, np.r_[np.ones(8000), -np.ones(2000)])
    floors = watch.unlabelled((0.4, 0.6), {"far": 0.1, "hter": 0.2})
    # 80 % pass and at most 60 % are positives: at least half of the others pass, less the bounds of the pass rate.
    assert 0.44 < floors["far"]["floor"] < 0.5
    assert floors["far"]["alarm"]
    assert floors["hter"]["floor"] == floors["far"]["floor"] / 2
    assert not watch.unlabelled((0.7, 0.85), {"far": 0.1})["far"]["alarm"]
    with pytest.raises(priori.OptionError, match="range within 0 and 1"):
        watch.unlabelled((0.6, 0.4), {"far": 0.1})


def test_the_command_remembers_warns_and_draws(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    for name, shift in (("dev", 0.0), ("good", 0.0), ("bad", 1.0)):
        label = rng.integers(0, 2, 3000)
        score = rng.normal(2.5 * label + shift * (1 - label))
        rows = "".join(f"{y},{x:.4f}\n" for y, x in zip(label, score, strict=True))
        (tmp_path / f"{name}.csv").write_text("label,score\n" + rows)
    begin = ["watch", "--threshold-from", "dev.csv", "--limit", "far=0.15", "--state", "watch.json"]
    main([*begin, "good.csv"])
    assert "none" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ending:
        main(["watch", "--state", "watch.json", "bad.csv", "--plot", "watch.svg"])
    assert ending.value.code == 1
    shown = capsys.readouterr().out
    assert "limit broken at trial" in shown
    assert "about decisions made so far" in shown
    assert (tmp_path / "watch.svg").stat().st_size > 1000
    with pytest.raises(SystemExit) as ending:
        main([*begin, "good.csv"])
    assert ending.value.code == 2
    assert "holds the threshold and the limits" in capsys.readouterr().err
    before = (tmp_path / "watch.json").read_text()
    with pytest.raises(SystemExit):
        main(["watch", "--state", "watch.json", "dev.csv", "--share", "half"])
    assert (tmp_path / "watch.json").read_text() == before
    with pytest.raises(SystemExit):
        main(["watch", "--threshold", "1", "--limit", "far=0.1", "--limit", "far=0.2", "good.csv"])
    assert "--limit far is given twice" in capsys.readouterr().err
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(SystemExit):
        main(["watch", "--state", "broken.json", "good.csv"])
    assert "not the state of a watch" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ending:
        main(["watch", "--threshold", "-1", "--limit", "far=0.1", "--share", "0.45:0.55", "bad.csv"])
    assert ending.value.code == 1
    assert "Either the share of positives is outside 0.45:0.55" in capsys.readouterr().out
