"""``priori ztest`` and ``priori plan`` as a person meets them."""

import csv
import io
import json

import numpy as np
import pytest

from priori import Scores, choose_threshold, ztest_scores

RATES = ["ztest", "--far", "0.0115", "--frr", "0.025", "--negatives", "112000", "--positives", "400"]
SECOND = ["--far-b", "0.0195", "--frr-b", "0.0275"]


@pytest.fixture
def files(tmp_path):
    """Score files of two systems on the same trials, the second in another order."""
    rng = np.random.default_rng(11)
    label = np.repeat([0, 1], [600, 200])
    user = np.tile(np.arange(20), 40)
    paths = {}
    for part in ("dev", "test"):
        common = rng.normal(0, 0.7, label.size)
        for name, shift in (("a", 2.4), ("b", 1.8)):
            score = shift * label + common + rng.normal(0, 0.7, label.size)
            rows = list(zip(label, score, user, np.arange(label.size), strict=True))
            if name == "b":
                rng.shuffle(rows)
            lines = ["label,score,user,trial", *(f"{int(y)},{x:.9f},u{int(u)},t{int(t)}" for y, x, u, t in rows)]
            paths[name, part] = tmp_path / f"{name}-{part}.csv"
            paths[name, part].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def _read(path):
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return Scores.from_predictions(
        columns["label"], columns["score"], trial=columns["trial"], user=columns["user"], source=path.name
    )


def _by_method(found, column):
    return dict(zip(found["method"], found[column], strict=True))


def _systems(files, *names):
    return [part for name in names for part in ("--system", name.upper(), files[name, "dev"], files[name, "test"])]


def test_one_system_from_rates(run):
    code, out, err = run(*RATES, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert {name: round(100 * width, 3) for name, width in _by_method(found, "width").items()} == {
        "hter": 1.531,
        "naive": 0.157,  # printed as 0.156 in Table 3.3, within the rounding of the rates
        "class": 0.125,
    }
    assert "confidence" not in found
    assert "priori: warning [normal-fits-badly]: A: FRR 0.025 of 400 trials is too small" in err


def test_two_systems_from_rates(run):
    code, out, _ = run(*RATES, *SECOND, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["method"] == ["independent", "naive", "class"]
    assert found["confidence"][0] == pytest.approx(0.647, abs=0.001)
    assert found["sd"][0] == pytest.approx(0.0057, abs=0.00005)
    assert found["a"]["interval"]["hter"] == pytest.approx([0.01825 - 0.007656, 0.01825 + 0.007656], abs=0.00001)
    assert found["significant"] is False


def test_table_and_csv(run):
    code, out, _ = run(*RATES, *SECOND)
    assert code == 0
    naive = next(line for line in out.splitlines() if line.startswith("naive"))
    assert "3.35" in naive
    assert "over-confident" in naive
    assert "A and B do not differ significantly at 95 % (confidence: independent 64.7 %)" in out
    _, out, _ = run(*RATES, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["method"] for row in rows] == ["hter", "naive", "class"]
    assert float(rows[0]["upper"]) - float(rows[0]["lower"]) == pytest.approx(float(rows[0]["width"]))
    _, out, _ = run(*RATES)
    assert "3.30" in out
    assert "1.53 %" in out


def test_one_sided(run):
    _, out, err = run(*RATES, *SECOND, "--alternative", "greater", "--format", "json")
    assert json.loads(out)["confidence"][0] == pytest.approx((1 - 0.647) / 2, abs=0.001)
    assert "cannot be significant" in err
    _, out, _ = run(*RATES, *SECOND, "--alternative", "less", "--format", "json")
    assert json.loads(out)["confidence"][0] == pytest.approx((1 + 0.647) / 2, abs=0.001)
    _, out, _ = run(*RATES, "--alternative", "less", "--format", "json")
    assert json.loads(out)["a"]["interval"]["hter"][0] == 0


def test_two_systems_from_scores(run, files):
    code, out, err = run("ztest", *_systems(files, "a", "b"), "--format", "json")
    assert code == 0, err
    found = json.loads(out)
    scores = {key: _read(path) for key, path in files.items()}
    at = {name: choose_threshold(scores[name, "dev"], criterion="wer", alpha=0.5) for name in "ab"}
    expected = ztest_scores(scores["a", "test"], at["a"], scores["b", "test"], at["b"]).to_dict()
    assert found["method"] == ["dependent", "independent", "naive", "class"]
    for key in ("confidence", "sd", "difference"):
        assert found[key] == pytest.approx(expected[key])
    assert found["threshold_a"] == at["a"]
    _, table, _ = run("ztest", *_systems(files, "a", "b"))
    row = next(line for line in table.splitlines() if line.strip().startswith("dependent"))
    assert f"{100 * expected['difference'][0]:.2f} %" in row
    _, out, _ = run("ztest", *_systems(files, "a", "b"), "--format", "json", "--unpaired")
    assert "dependent" not in json.loads(out)["method"]


def test_one_system_from_scores_with_a_weighted_error(run, files):
    code, out, _ = run("ztest --alpha costs:10,1,0.01 --measure wer --format json", *_systems(files, "a"))
    assert code == 0
    assert json.loads(out)["measure"] == "wer:0.908257"


def test_unmatched_trials_are_named(run, files):
    lines = files["b", "test"].read_text(encoding="utf-8").splitlines()
    lost = lines[1].rsplit(",", 1)[1]
    files["b", "test"].write_text("\n".join([lines[0], *lines[2:]]) + "\n", encoding="utf-8")
    code, _, err = run("ztest", *_systems(files, "a", "b"))
    assert code == 2
    assert "no partner for 1 of 800 trials of the first system" in err
    assert f"({lost})" in err
    assert "--unpaired" in err


def test_plan(run, files):
    code, out, err = run("plan", "--width", "0.02", "--far", "0.05", "--frr", "0.05", "--negatives-per-positive", "10")
    assert code == 0
    assert "5,670 negatives and 567 positives" in out
    assert "at most 0.02 wide in 80 % of studies" in out
    assert "users are not known" not in err  # which is said of pilots
    code, out, err = run("plan", "--width", "0.05", *_systems(files, "a"), "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["assumptions"]["pilot_users"] == 20
    assert found["negatives"] == 30 * found["users"]
    assert "estimated from 20 users" in err
    arguments = ("plan", "--difference", "0.02", *_systems(files, "a", "b"), "--format", "csv")
    code, out, _ = run(*arguments)
    assert code == 0
    grows = next(csv.DictReader(io.StringIO(out)))
    assert grows["users"] == grows["dev_users"]  # as many in the pilot, too
    assert float(grows["power"]) > 0.8  # more than asked: the pilot has few users
    code, out, _ = run(*arguments, "--claim", "deployed")
    assert code == 0
    assert next(csv.DictReader(io.StringIO(out)))["dev_users"] == ""
    code, out, _ = run("plan", "--width", "0.02", "--far", "0.05", "--frr", "0.05", "--assurance", "0.95")
    assert "in 95 % of studies" in out
