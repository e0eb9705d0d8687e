"""The scores that transcripts use: few, with ties, users, real identities, groups, data sets and attacks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

import priori
from priori.base.options import ResamplingOptions
from priori.plots import plot_histogram
from priori.testing import assert_rate
from priori.uncertainty.bands import bands

__all__ = ["area_bands", "assert_rate", "plot_histogram"]

Table = dict[str, Any]


def area_bands(dev: priori.Scores, test: priori.Scores, **options: Any) -> bands.AreaBands:
    """Return areas with their intervals."""
    return bands.area_bands(dev, test, ResamplingOptions(**options))


def crossing(seed: int, quality: float, users: list[str], role: str) -> Table:
    """Trials of everybody against everybody; the same seed gives the same trials, whatever the quality."""
    rng, size = np.random.default_rng(seed), len(users)
    claimed = np.concatenate([np.repeat(np.arange(size), 5), np.repeat(np.arange(size), size)])
    real = np.concatenate([np.repeat(np.arange(size), 5), np.tile(np.arange(size), size)])
    kept = np.ones(claimed.size, dtype=bool)
    kept[5 * size :] = claimed[5 * size :] != real[5 * size :]
    claimed, real = claimed[kept], real[kept]
    label = (claimed == real).astype(int)
    noise = rng.normal(size=label.size) + rng.normal(0, 0.5, size)[claimed] + rng.normal(0, 0.3, size)[real]
    own = np.random.default_rng([seed, int(10 * quality)])
    score = np.round(quality * label + noise + own.normal(0, 0.6, label.size), 1) + 0.0
    names = np.array(users)
    return {
        "score": score,
        "label": label,
        "user": names[claimed],
        "probe_user": names[real],
        "trial": np.array([f"{role}{number}" for number in range(label.size)]),
        "dataset": np.array(list("wxy"))[claimed % 3],
        "group": np.array(["f", "m"])[claimed % 2],
    }


def plain(seed: int, quality: float, size: int = 160) -> Table:
    """Trials without users or ids; the same seed gives the same rows."""
    rng = np.random.default_rng(seed)
    label, noise = rng.integers(0, 2, size), rng.normal(size=size)
    score = np.round(noise + np.random.default_rng([seed, int(10 * quality)]).normal(0, 0.5, size) + quality * label, 1)
    return {"score": score + 0.0, "label": label}


def attacked(seed: int) -> Table:
    """Impostors, attacks of two types and genuine trials."""
    rng = np.random.default_rng(seed)
    label = np.repeat(["impostor", "attack", "genuine"], [80, 40, 60])
    score = np.round(rng.normal(np.select([label == "impostor", label == "attack"], [0.0, 1.0], 2.5)), 2)
    kind = np.where(label == "attack", np.tile(["mask", "print"], 90), "")
    return {
        "score": score,
        "label": label,
        "attack": kind,
        "user": np.array([f"u{number % 9}" for number in range(180)]),
    }


def csv(table: Table, *, separator: str = ",") -> str:
    """Return a table as text."""
    rows = zip(*(column.tolist() for column in table.values()), strict=True)
    return "\n".join([separator.join(table), *(separator.join(map(str, row)) for row in rows)]) + "\n"


def tables() -> dict[str, Table]:
    """Return the tables, by the names of their files."""
    users = [f"u{number:02}" for number in range(10)]
    found: dict[str, Table] = {}
    for name, quality in (("a", 2.0), ("b", 1.5), ("c", 2.2), ("e", 1.8)):
        found[f"{name}-dev"] = crossing(1, quality, [f"d{user}" for user in users], "d")
        found[f"{name}-test"] = crossing(2, quality, users, "t")
    found["d-dev"] = crossing(3, 1.8, [f"v{number:02}" for number in range(7)], "v")  # other users in each set
    found["d-test"] = crossing(4, 1.8, [f"w{number:02}" for number in range(8)], "w")
    for name, quality in (("p", 1.8), ("q", 1.2)):
        found |= {f"{name}-dev": plain(11, quality), f"{name}-test": plain(12, quality)}
    found |= {
        "r-dev": {**plain(11, 1.8), "score": -plain(11, 1.8)["score"]},
        "few-dev": plain(13, 3.5, 24),
        "few-test": plain(14, 3.5, 24),
    }
    found |= {"attacked-dev": attacked(21), "attacked-test": attacked(22)}
    return found


def write() -> None:
    """Write every file into the current directory."""
    found = tables()
    for name, table in found.items():
        Path(f"{name}.csv").write_text(csv(table))
    for role in ("dev", "test"):
        table = found[f"a-{role}"]
        rows = list(
            zip(*(table[name].tolist() for name in ("user", "probe_user", "trial", "score", "label")), strict=True)
        )
        Path(f"bob-{role}.txt").write_text("".join(f"{u} {p} {t} {s}\n" for u, p, t, s, _ in rows))
        Path(f"kaldi-{role}.scores").write_text("".join(f"{u} {t} {s}\n" for u, _, t, s, _ in rows))
        Path(f"kaldi-{role}.trials").write_text(
            "".join(f"{u} {t} {'target' if label else 'nontarget'}\n" for u, _, t, _, label in rows)
        )
        Path(f"far-{role}.csv").write_text(csv({"distance": -table["score"], "label": table["label"]}, separator=";"))
    columns = ("set", "system", "score", "label", "user", "trial")
    long = {name: [] for name in columns}  # type: dict[str, list[Any]]
    for system in "abce":
        for role in ("dev", "test"):
            table = found[f"{system}-{role}"]
            for name in ("score", "label", "user", "trial"):
                long[name] += table[name].tolist()
            long["set"] += [role] * table["score"].size
            long["system"] += [system] * table["score"].size
    Path("long.csv").write_text(csv({name: np.array(values, dtype=object) for name, values in long.items()}))
    Path("one.csv").write_text(csv({**found["a-test"], "fold": np.arange(found["a-test"]["score"].size) % 4}))
    for role in ("dev", "test"):
        table = found[f"a-{role}"]
        Path(f"paid-{role}.csv").write_text(csv({**table, "euros": np.round(np.exp(2 + table["score"]), 2)}))
    failed = np.array([number % 13 == 0 for number in range(found["a-test"]["score"].size)])
    score = np.where(failed, np.nan, found["a-test"]["score"])
    Path("failed.csv").write_text(csv({**found["a-test"], "score": score}))
    for name, text in BAD.items():
        Path(name).write_bytes(text.encode() if isinstance(text, str) else text)


BAD: dict[str, str | bytes] = {
    "empty.csv": "",
    "header.csv": "score,label\n",
    "one-class.csv": "score,label\n0.5,1\n0.25,1\n",
    "text.csv": "score,label\n0.5,1\nhigh,0\n",
    "short.csv": "score,label,user\n0.5,1,a\n0.25,0\n",
    "three.csv": "score,label\n1,0\n2,1\n3,2\n",
    "missing.csv": "score,label\n0.5,1\nnan,0\n0.1,0\n0.4,1\n",
    "pair.csv": "score,label\n1,cat\n2,dog\n",
    "twice.json": '{"score": 1, "label": 1, "score": 0}\n',
    "noise.bin": bytes(range(256)) * 20,
    "cut.csv.gz": gzip.compress(b"score,label\n0.1,0\n0.9,1\n")[:20],
    "broken.parquet": "PAR1 this is not parquet PAR1",
}


def curve(name: str, **options: Any) -> priori.EPC:
    """Return the curve of a system, at few points."""
    dev, test = (priori.read(f"{name}-{role}.csv") for role in ("dev", "test"))
    return priori.epc(dev, test, **{"points": 5, "name": name.upper(), **options})


def large(size: int, *, users: int = 0, **options: Any) -> priori.EPC:
    """Return the curve of a system with many trials."""
    sets = []
    for seed in (31, 32):
        rng = np.random.default_rng(seed)
        label = (np.arange(size) % 4 == 0).astype(int)
        known = {"user": np.arange(size) % users} if users else {}
        sets.append(priori.Scores.from_predictions(label, np.round(rng.normal(2 * label), 5), **known))
    return priori.epc(*sets, **{"alpha": [0.1, 0.5, 0.9], **options})


def _rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    rows, truth = rng.normal(size=(240, 3)), rng.integers(0, 2, 240)
    rows[:, 0] += 1.5 * truth
    return rows, truth


def shown(display: str, **options: Any) -> Any:
    """Return a display of scikit-learn's kind, of a model that was fitted on rows made here."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_validate
    from sklearn.naive_bayes import GaussianNB

    from priori import sklearn

    rows, truth = _rows()
    kind, _, way = display.partition(".")
    made = getattr(getattr(sklearn, kind), way)
    models = LogisticRegression(), GaussianNB()
    compared = models if kind == "DifferenceDisplay" else models[:1]
    if way == "from_cv_results":
        folds = [
            cross_validate(model, rows, truth, cv=3, return_estimator=True, return_indices=True) for model in compared
        ]
        return made(*folds, rows, truth, **options)
    fitted = [model.fit(rows[:80], truth[:80]) for model in compared]
    if way == "from_estimator":
        if kind != "AverageROCDisplay":
            options = {"X_dev": rows[80:160], "y_dev": truth[80:160], **options}
        return made(*fitted, rows[160:], truth[160:], **options)
    scores = [model.predict_proba(rows)[:, 1] for model in fitted]
    if kind == "EPCDisplay":
        options = {"y_true_dev": truth[80:160], "y_score_dev": scores[0][80:160], **options}
    return made(truth[160:], *(score[160:] for score in scores), **options)


def tuned(**options: Any) -> dict[str, Any]:
    """Return what a classifier with a threshold chosen in advance learns and says."""
    from sklearn.linear_model import LogisticRegression

    from priori.sklearn import AprioriThresholdClassifier

    rows, truth = _rows()
    model = AprioriThresholdClassifier(LogisticRegression(), **options).fit(rows[:160], truth[:160])
    decisions = model.predict(rows[160:]), model.decision_function(rows[160:])
    return {
        "threshold": model.threshold_,
        "decisions": decisions,
        "curve": model.epc(rows[160:], truth[160:], points=3).value,
    }


def scored(*measure: str, **options: Any) -> list[float]:
    """Return what a scorer says of a model, and of its folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    from priori.sklearn import AprioriScorer

    rows, truth = _rows()
    scorer = AprioriScorer(*measure, **options)
    once = scorer(LogisticRegression().fit(rows[:160], truth[:160]), rows[160:], truth[160:])
    return [once, *cross_val_score(LogisticRegression(), rows, truth, scoring=scorer, cv=3).tolist()]


def saved(result: priori.Result) -> Any:
    """Return what is written of a result."""
    return json.loads(result.to_json())


def restored(result: priori.Result) -> priori.Result:
    """Return a result as it comes back from a file."""
    return type(result).from_json(result.to_json())


def refused(function: Any, *arguments: Any, **options: Any) -> str:
    """Return what an assertion says that does not hold."""
    try:
        function(*arguments, **options)
    except AssertionError as error:
        return str(error)
    raise ValueError("it holds")


def lazily(name: str) -> Any:
    """Return a file as a lazy frame."""
    import polars as pl

    return pl.scan_csv(f"{name}.csv")


def story(*names: str, task: str = "authentication", bootstrap: str = "auto") -> str:
    """Return what ``priori demo`` would say of these systems."""
    from priori.cli.demo import _story
    from priori.scores.systems import SourceFile, System
    from priori.studies.evaluation import Settings, make_study

    systems = []
    for name in names:
        files = [Path(f"{name}-{role}.csv") for role in ("dev", "test")]
        dev, test = (priori.read(file) for file in files)
        systems.append(System(name, dev, test, *(SourceFile.of(file, file.name) for file in files)))
    return _story(make_study(systems, Settings(task=task, bootstrap=bootstrap, n_resamples=100)))
