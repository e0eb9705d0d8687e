"""Every interval contains the value it is around: all bootstraps and formats; where one does not, it says so."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import priori
from nobody import attacked
from priori import Scores
from priori.base.options import ResamplingOptions
from priori.base.results import AROUND, Result
from priori.scores import Trials
from priori.uncertainty.bands.bands import area_bands
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.resampling import BootstrapPlan
from validation.coverage.simulation import population

MEANT = {"value-outside", "around-expected"}


def crossed(seed: int) -> Scores:
    return population(12, 4, 22, user_effect_sd=0.5, probe_effect_sd=0.5, crossed=True, rng=seed)


def without(scores: Scores, *columns: str) -> Scores:
    def bare(trials: Trials) -> Trials:
        return replace(trials, **dict.fromkeys(columns))  # type: ignore[arg-type]

    return replace(scores, negative=bare(scores.negative), positive=bare(scores.positive))


def rounded(scores: Scores) -> Scores:
    parts = (replace(trials, score=np.round(trials.score)) for trials in (scores.negative, scores.positive))
    return replace(scores, negative=next(parts), positive=next(parts))


def bob(seed: int) -> Scores:
    """Read bob's four columns, with attacks on every user that succeed often."""
    rng, lines = np.random.default_rng(seed), list[str]()
    ease = rng.normal(0, 0.4, 10)
    for user in range(10):
        for probe in range(10):
            lines += [
                f"u{user} u{probe} t{probe}-{k} {rng.normal(2.0 * (user == probe)) + ease[probe] / 2}" for k in range(4)
            ]
        lines += [f"u{user} attack a{k} {rng.normal(1.8) + ease[user]}" for k in range(12)]
    return priori.read(io.BytesIO("\n".join(lines).encode()), source="bob.txt")


FORMATS: dict[str, Callable[[int], Scores]] = {
    "trials": lambda seed: without(crossed(seed), "user", "probe_user"),
    "users": lambda seed: without(crossed(seed), "probe_user"),
    "identities": crossed,
    "ties": lambda seed: rounded(crossed(seed)),
    "nobody": lambda seed: attacked(crossed(seed), 0.4, "nontarget", seed),
    "one name": lambda seed: attacked(crossed(seed), 0.7, "x", seed),
    "bob": bob,
}


def outside(result: Result) -> list[str]:
    """Return the columns whose values lie outside their intervals."""
    columns, found = result.columns(), []
    for name in (name for name in columns if name.endswith("lower")):
        stem = name.removesuffix("lower")
        around = stem.removesuffix("_") or next(name for name in AROUND if name in columns)
        low, value, high = (columns[each] for each in (name, around, f"{stem}upper"))
        if around in columns and ((value < low - 1e-9) | (value > high + 1e-9)).any():
            found.append(around)
    assert bool(found) == bool(MEANT & {getattr(line, "code", "") for line in getattr(result, "warnings", ())})
    return found


def bands(curve: priori.EPC, scores: Scores, **options: Any) -> Iterator[priori.Band]:
    """Yield the bands of every bootstrap that the scores allow, with every interval that goes with it."""
    for name, design in BOOTSTRAPS.items():
        if (design.by_user and not scores.has_users) or (design.crossed and not scores.has_identities):
            continue
        for interval in ("calibrated", "percentile")[not design.calibrated :]:
            yield curve.band(bootstrap=name, interval=interval, n_resamples=200, **options)


@pytest.mark.parametrize("kind", FORMATS)
def test_bands_contain_their_curves(kind: str) -> None:
    dev, test = FORMATS[kind](1), FORMATS[kind](2)
    for measure in ("hter", "far"):
        curve = priori.epc(dev, test, alpha=[0.2, 0.5, 0.8], measure=measure)
        for simultaneous in (False, True):
            for band in bands(curve, test, simultaneous=simultaneous):
                assert outside(band) == [], (measure, band.settings)
        for band in bands(curve, test, resample="both"):
            of_method = band.settings["interval"] == "calibrated"
            inside = replace(band, value=band.mean, warnings=()) if of_method else band
            assert outside(inside) == [], (measure, band.settings)


@pytest.mark.parametrize("kind", FORMATS)
def test_other_intervals_contain_their_values(kind: str) -> None:
    dev, test = FORMATS[kind](3), FORMATS[kind](4)
    results: list[Result] = [priori.rate_interval(test, 1.0, rate=rate) for rate in ("far", "frr")]
    results += [
        priori.a_posteriori_auc_interval(test),
        priori.a_posteriori_auc_test(test, rounded(test)),
        priori.roc(test).band(n_resamples=200),
        area_bands(dev, test, ResamplingOptions(n_resamples=100)),
        priori.compare(*(priori.epc(dev, each, points=3) for each in (test, rounded(test))), n_resamples=200),
    ]
    if test.has_users:
        assert test.users is not None
        sex = {name: "fm"[number % 2] for number, name in enumerate(test.users.values)}
        results += [priori.user_rates(test, 1.0), priori.group_rates(test, 1.0, groups=sex)]
    assert [outside(result) for result in results] == [[] for _ in results]


def test_an_interval_without_its_value_says_so(
    monkeypatch: pytest.MonkeyPatch, write: Callable[..., Path], run: Callable[..., tuple[int, str, str]]
) -> None:
    test = crossed(2)
    curve = priori.epc(crossed(1), test, alpha=[0.2, 0.5])
    good = curve.band(n_resamples=200)
    bad = replace(good, lower=good.value + 0.01, upper=good.value + 0.02)
    (said,) = (line for line in bad.warnings if getattr(line, "code", "") == "value-outside")
    assert f"{good.value[0]:.4g}, not in {bad.lower[0]:.4g} to" in said
    assert sum(getattr(line, "code", "") == "value-outside" for line in replace(bad).warnings) == 1
    tuned = replace(bad, settings={**bad.settings, "resample": "both"}, warnings=())
    assert [getattr(line, "code", "") for line in tuned.warnings] == ["around-expected"]
    assert priori.Band.from_json(bad.to_json()).warnings == bad.warnings

    def bounds(self: BootstrapPlan, values: Any, *_: Any, **options: Any) -> tuple[Any, Any]:
        return 0 * values[0] + 0.8, 0 * values[0] + 0.9

    monkeypatch.setattr(BootstrapPlan, "bounds", bounds)
    for name, scores in (("dev.txt", crossed(1)), ("test.txt", test)):
        rows = ((1, each) for each in scores.positives), ((0, each) for each in scores.negatives)
        write(name, "".join(f"{label} {score}\n" for part in rows for label, score in part))
    code, _, err = run("epc", "--system", "A", "dev.txt", "test.txt", "--bootstrap", "auto", "--resamples", "100")
    assert (code, "[value-outside]" in err) == (0, True)
