"""Watching a deployed threshold: bets against products written out, false alarms, delays, and a state that survives."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest

import priori
from priori.cli import main
from priori.studies.watching import KEPT, PART, RATIOS, WatchedRate, bounds, log_wealth


def stream(rng, trials, times=1.0, limit=0.01, users=200, spread=0.5):
    """Errors of users who differ strongly and return; their mean risk is the limit times something."""
    risk = rng.beta(spread, spread / limit - spread, users)
    risk *= limit / risk.mean()
    return rng.random(trials) < np.minimum(times * risk[rng.integers(0, users, trials)], 1)


def test_wealth_is_what_the_bets_written_out_win():
    wrong = np.random.default_rng(1).random(60) < 0.2
    for limit, above in ((0.1, True), (0.1, False), (0.6, True), (0.995, False)):
        ratios = RATIOS if above else 1 / RATIOS
        each = [np.prod([ratio**x / (1 + (ratio - 1) * limit) for x in wrong.astype(int)]) for ratio in ratios]
        assert log_wealth(wrong.sum(), wrong.size, limit, above=above) == pytest.approx(np.log(np.mean(each)))


def test_the_detector_is_its_recursion_and_batches_do_not_matter():
    rng = np.random.default_rng(2)
    wrong = rng.random(500) < 0.05
    whole, parts = (WatchedRate("far", 0.02) for _ in range(2))
    whole.update(wrong, 0.95, 1e5)
    for part in np.split(wrong, [1, 7, 200]):
        parts.update(part, 0.95, 1e5)
    held = np.zeros(RATIOS.size)
    for x in wrong.astype(int):
        held = (held + 1) * RATIOS**x / (1 + (RATIOS - 1) * 0.02)
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


def test_a_bet_wins_nothing_on_average_whatever_the_risks_do():
    """Every way that five trials with other risks can end: at their mean risk, bets are worth 1 at most."""
    for risks in ([0.02, 0.5, 0.1, 0.1, 0.9], [0.3] * 5, [0.001, 0.001, 0.8, 0.001, 0.001]):
        ends = np.array(np.meshgrid(*[[0, 1]] * 5)).reshape(5, -1).T
        chance = np.prod(np.where(ends, risks, 1 - np.array(risks)), axis=1)
        for above in (True, False):
            wealth = np.exp(log_wealth(ends.sum(axis=1), 5, np.mean(risks), above=above))
            assert chance @ wealth <= 1 + 1e-12


def test_bounds_hold_the_mean_risk_so_far_while_it_moves():
    rng, missed, trials = np.random.default_rng(9), 0, np.arange(1, 20_001)
    for _ in range(60):
        risk = 0.03 * np.exp(1.5 * np.sin(2 * np.log(trials) + rng.uniform(0, 6)))
        errors, mean = np.cumsum(rng.random(trials.size) < risk), np.cumsum(risk) / trials
        wealth = [log_wealth(errors, trials, mean[:, None], above=above).max() for above in (True, False)]
        missed += max(wealth) >= np.log(40)
    # 5 % are allowed: 3 of 60, and 8 by bad luck once in a hundred runs.
    assert missed <= 8


def test_a_change_after_a_long_good_run_is_found_soon():
    rng = np.random.default_rng(4)
    watched = WatchedRate("far", 0.01)
    watched.update(np.concatenate([stream(rng, 30_000, 0.5), stream(rng, 10_000, 2.0)]), 0.95, 1e5)
    assert 30_000 < watched.changed < 34_000
    assert watched.broken is None or watched.broken > watched.changed


def test_a_large_batch_leaves_the_history_before_it():
    watched = WatchedRate("far", 0.01)
    rng = np.random.default_rng(7)
    for size in (1, 300, 5000, 3 * PART + 7, 3):
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
        ({"limits": {"eer": 0.1}}, "one of far, frr, hter"),
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
    for label in ([0, -1], [0, 2], [0, np.nan], ["0", "1"]):
        with pytest.raises(priori.InputError, match="give 1 or 0"):
            watch.update(label, [1.0, 1.0])
    assert watch.report()["far"]["trials"] == 0


def test_unlabelled_trials_give_a_floor():
    watch = priori.Watch(0.0, {"far": 0.1})
    watch.update(np.zeros(5000), -np.ones(5000))  # their classes are known, and the share is not theirs
    watch.update(None, np.r_[np.ones(8000), -np.ones(2000)])
    assert (watch.passed, watch.seen) == (8000, 10_000)
    floors = watch.unlabelled((0.4, 0.6), {"far": 0.1, "hter": 0.2})
    # 80 % pass and at most 60 % are positives: at least half of the others pass, less the bounds of the pass rate.
    assert 0.44 < floors["far"]["floor"] < 0.5
    assert floors["far"]["alarm"]
    assert floors["hter"]["floor"] == floors["far"]["floor"] / 2
    assert not watch.unlabelled((0.7, 0.85), {"far": 0.1})["far"]["alarm"]
    with pytest.raises(priori.OptionError, match="range within 0 and 1"):
        watch.unlabelled((0.6, 0.4), {"far": 0.1})


def test_without_labels_the_hter_may_have_a_limit(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text("score\n" + "1\n" * 4500 + "-1\n" * 500)
    (tmp_path / "labelled.csv").write_text("label,score\n0,1\n1,1\n")
    begin = ["watch", "--threshold", "0", "--limit", "hter=0.3", "--state", "s.json", "--share"]
    with pytest.raises(SystemExit) as ending:
        main([*begin, "0.4:0.6", "new.csv"])
    assert ending.value.code == 1
    # 90 % pass and at most 60 % are positives: FAR >= 0.75 less the bounds of the pass rate, and HTER at least half.
    assert "is outside 0.4:0.6, or the HTER is at least 35.63 %" in capsys.readouterr().out
    watch = priori.Watch.load("s.json")
    assert (watch.seen, watch.limits, watch.report(), watch.alarm) == (5000, {"hter": 0.3}, {}, False)
    floors = watch.unlabelled((0.4, 0.6), watch.limits)
    assert floors["hter"]["floor"] == watch.unlabelled((0.4, 0.6), {"far": 0.3})["far"]["floor"] / 2
    assert not watch.unlabelled((0.4, 0.8), watch.limits)["hter"]["alarm"]
    with pytest.raises(SystemExit) as ending:
        main(["watch", "--state", "s.json", "labelled.csv"])
    assert ending.value.code == 2
    assert "limit the far or the frr" in capsys.readouterr().err
    with pytest.raises(priori.OptionError, match="there are none"):
        watch.plot()


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
    for again in (["--level", "0.9"], ["--change-every", "9"], ["--criterion", "eer"]):
        with pytest.raises(SystemExit):
            main(["watch", "--state", "watch.json", "dev.csv", *again])
        assert f"leave out {again[0]}," in capsys.readouterr().err
    before = (tmp_path / "watch.json").read_text()
    with pytest.raises(SystemExit):
        main(["watch", "--state", "watch.json", "dev.csv", "--share", "half"])
    assert (tmp_path / "watch.json").read_text() == before
    with pytest.raises(SystemExit):
        main(["watch", "--threshold", "1", "--limit", "far=0.1", "--limit", "far=0.2", "good.csv"])
    assert "--limit far has a limit already, 0.1" in capsys.readouterr().err
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(SystemExit):
        main(["watch", "--state", "broken.json", "good.csv"])
    assert "not the state of a watch" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ending:
        main(["watch", "--threshold", "-1", "--limit", "far=0.1", "--share", "0.45:0.55", "bad.csv"])
    assert ending.value.code == 1
    assert "Either the share of positives is outside 0.45:0.55" in capsys.readouterr().out


def watched(capsys, *typed):
    """Run the command; return what it printed as JSON."""
    with contextlib.suppress(SystemExit):
        main(["watch", *typed, "--json"])
    return json.loads(capsys.readouterr().out)


def test_files_are_read_in_their_order_with_one_class_or_none(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "impostors.csv").write_text("label,score\nnontarget,1\nnontarget,-1\nnontarget,2\n")
    far = watched(capsys, "--threshold", "0", "--limit", "far=0.5", "impostors.csv")["rates"]["far"]
    assert (far["errors"], far["trials"]) == (2, 3)
    (tmp_path / "timed.csv").write_text("label,score,at,n\n1,-1,2024-03-01,9\n1,1,2024-01-01,1\n")
    typed = ["--threshold", "0", "--limit", "frr=0.1", "--column", "time=at", "--column", "weight=n", "timed.csv"]
    # The trial of January comes first, and it is right; nine errors follow.
    first = next(n for n in range(1, 11) if np.mean(RATIOS ** (n - 1) / (1 + (RATIOS - 1) * 0.1) ** n) >= 20)
    assert watched(capsys, *typed)["rates"]["frr"]["alarms"][0] == f"limit broken at trial {first}"
    (tmp_path / "odd.csv").write_text("label,score\na,1\na,-1\n")
    with pytest.raises(SystemExit):
        main(["watch", "--threshold", "0", "--limit", "far=0.5", "odd.csv"])
    assert "every label is 'a'" in capsys.readouterr().err
    found = watched(capsys, "--threshold", "0", "--limit", "far=0.5", "--positive", "b", "odd.csv")
    assert found["rates"]["far"]["trials"] == 2
    (tmp_path / "new.tsv").write_text("score\tsite\n1\tx\nnan\tx\n-1\ty\n")
    typed = ["--threshold", "0", "--limit", "far=0.5", "--share", "0.1:0.2", "--state", "s.json", "new.tsv"]
    with pytest.raises(SystemExit):
        main(["watch", *typed])
    assert "1 score is NaN (the first on line 3)" in capsys.readouterr().err
    watched(capsys, *typed, "--nan", "reject")
    assert (priori.Watch.load("s.json").passed, priori.Watch.load("s.json").seen) == (1, 3)
    with pytest.raises(SystemExit):
        main(["watch", "--threshold", "0", "--limit", "far=0.5", "--share", "0.1", "--plot", "x.svg", "impostors.csv"])
    assert "there are none" in capsys.readouterr().err


def test_distances_are_remembered(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{y},{x}\n" for y, x in ((0, 0.9), (0, 0.2), (0, 0.8), (1, 0.1), (1, 0.3)))
    for name in ("monday", "tuesday"):
        (tmp_path / f"{name}.csv").write_text(f"label,score\n{rows}{'0,0.7' * (name == 'tuesday')}\n")
    found = watched(
        capsys, "--threshold", "0.5", "--limit", "far=0.9", "--lower-is-better", "--state", "s.json", "monday.csv"
    )
    assert (found["threshold"], found["rates"]["far"]["errors"]) == (0.5, 1)
    found = watched(capsys, "--state", "s.json", "tuesday.csv")
    assert (found["threshold"], found["rates"]["far"]["errors"], found["rates"]["far"]["trials"]) == (0.5, 2, 7)
    priori.Watch(0.5, {"far": 0.9}).save("scores.json")
    with pytest.raises(SystemExit):
        main(["watch", "--state", "scores.json", "--lower-is-better", "monday.csv"])
    assert "leave out --lower-is-better" in capsys.readouterr().err
