"""The study: one frozen result with everything a report shows, the same numbers as the library gives."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from fractions import Fraction
from importlib import import_module
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import priori
import small_studies
from priori.base.errors import InputError, OptionError
from priori.decisions.measures import get_measure
from priori.report import render_html, study_dict
from priori.scores.influence import People
from priori.scores.systems import SourceFile
from priori.studies.evaluation import Settings, make_study
from priori.studies.evaluation.drawing import probit
from priori.studies.evaluation.pairs import BARS, Pair, ReplicateSpread
from priori.studies.evaluation.study import ranks_of
from priori.uncertainty.comparing.ztests import ztests_along
from priori.uncertainty.ranking.ranking import compare_all
from priori.words.sentences import verdict


def test_the_numbers_are_the_librarys() -> None:
    study = small_studies.study(2.5, 1.6, 2.0, alpha="99/109")
    systems = small_studies.systems(2.5, 1.6, 2.0)
    assert study.curves[0].fractions[study.at] == Fraction(99, 109)
    assert len(study.curves[0].alpha) == 22
    curves = [priori.epc(one.dev, one.test, alpha=study.settings.alphas, name=one.name) for one in systems]
    for member, curve in zip(study.members, curves, strict=True):
        assert member.curve.value.tolist() == curve.value.tolist()
        band = curve.band(n_resamples=200, rng=0)
        assert member.band is not None
        assert member.band.lower.tolist() == band.lower.tolist()
        assert member.roc.auc == priori.a_posteriori_auc(curve.test)
        assert member.area == curve.area
        assert member.areas.g == priori.areas(curve.dev, curve.test).g
    ranking = compare_all(curves, n_resamples=200, rng=0)
    for pair, lower, p_value in zip(study.pairs, ranking.pointwise.lower, ranking.p_value, strict=True):
        assert pair.difference.tolist() == (curves[pair.a].value - curves[pair.b].value).tolist()
        assert pair.lower is not None
        assert pair.lower.tolist() == lower.tolist()
        assert pair.p_value is not None
        assert pair.p_value.tolist() == p_value.tolist()
        z = ztests_along(curves[pair.a], curves[pair.b])
        assert pair.confidence is not None
        both = np.minimum(z["dependent"].confidence, z["independent"].confidence)
        assert pair.confidence.tolist() == both.tolist()
    letters = {place.name: place.groups for place in ranking.places(99 / 109)}
    assert study.letters is not None
    assert study.letters[study.at] == tuple(letters[name] for name in "ABC")


def test_the_same_seed_the_same_study() -> None:
    first, second = (json.dumps(study_dict(small_studies.fresh_study(2.0, 1.8))) for _ in range(2))
    assert first == second
    assert first != json.dumps(study_dict(small_studies.study(2.0, 1.8, seed=1)))


def test_everything_goes_into_json() -> None:
    found = json.loads(json.dumps(study_dict(small_studies.study(2.0, 1.8, 1.5)), allow_nan=False))
    assert found["settings"]["measure"] == "hter"
    assert set(found["verdict"]) == {"performance", "difference", "threshold", "optimism"}
    assert len(found["systems"]) == 3
    assert len(found["comparisons"]) == 3
    assert found["systems"][0]["files"]["dev"] == {"name": "0-dev.csv", "sha256": "ab" * 32, "size": None}
    assert found["versions"]["priori"] == priori.__version__
    assert found["ranks"] == [1, 2, 3]
    plain = json.loads(json.dumps(study_dict(small_studies.study(2.0, bootstrap=None)), allow_nan=False))
    assert plain["systems"][0]["band"] is None


def test_a_study_is_frozen() -> None:
    study = small_studies.study(2.0, bootstrap=None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        study.at = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("task", "criterion", "measure"),
    [
        ("authentication", "target-v1", None),
        ("authentication", "eer", "wer"),
        ("authentication", None, "dcf:cost_fn=10,cost_fp=1,prior=0.01"),
        ("retrieval", None, None),
        ("retrieval", "target-v2", "mcc"),
        ("diagnosis", None, None),
    ],
)
def test_any_setting(task: str, criterion: str | None, measure: str | None) -> None:
    study = small_studies.study(2.5, 1.6, task=task, criterion=criterion, measure=measure, points=5, alpha="0.25")
    assert all(verdict(study, index).text for index in range(5))
    additive = study.settings.shown.name not in ("f1", "mcc")
    assert (study.pairs[0].confidence is not None) == additive


def test_progress_is_told_and_can_cancel() -> None:
    told: list[tuple[str, int, int]] = []

    def tell(stage: str, done: int, total: int) -> None:
        told.append((stage, done, total))

    make_study(small_studies.systems(2.0, 1.8), Settings(n_resamples=100, points=3), progress=tell)
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == ["curves", "comparisons", "bands", "drawings"]
    for stage in stages:
        parts = [done / total for name, done, total in told if name == stage]
        assert parts == sorted(parts)
        assert parts[-1] <= 1

    class Cancelled(Exception):
        pass

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "bands":
            raise Cancelled

    with pytest.raises(Cancelled):
        make_study(small_studies.systems(2.0), Settings(n_resamples=100, points=3), progress=stop)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"task": "cooking"}, "unknown task"),
        ({"criterion": "luck"}, "unknown criterion"),
        ({"measure": "charm"}, "unknown measure"),
        ({"points": 1}, "from 2 to 1001 alphas"),
        ({"points": 5000}, "from 2 to 1001 alphas"),
        ({"alpha": "2"}, "between 0 and 1"),
        ({"bootstrap": "boots"}, "unknown bootstrap"),
        ({"resample": "none"}, "unknown set"),
        ({"confidence_level": 95}, "between 0 and 1"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_are_checked(setting: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Settings(**setting)  # type: ignore[arg-type]


def test_systems_are_checked() -> None:
    quick = Settings(bootstrap=None, points=3)
    with pytest.raises(OptionError, match="at least one system"):
        make_study([], quick)
    with pytest.raises(OptionError, match="two systems are called 'A'"):
        make_study(small_studies.systems(2.0, 1.0, names=("A", "A")), quick)
    with pytest.raises(OptionError, match="at most 200 systems"):
        make_study(small_studies.systems(*[2.0] * 201, names=tuple(map(str, range(201)))), quick)
    other = [*small_studies.systems(2.0), *small_studies.systems(2.0, names=("B",), negatives=100)]
    with pytest.raises(InputError, match="unpaired"):
        make_study(other, quick)
    study = make_study(other, Settings(n_resamples=50, points=3, unpaired=True))
    assert study.pairs[0].significant is not None
    with pytest.raises(OptionError, match="user"):
        make_study(small_studies.systems(2.0), Settings(bootstrap="user", n_resamples=50, points=3))


def test_ranks() -> None:
    curves = [priori.epc(one.dev, one.test, alpha=[0.5]) for one in small_studies.systems(2.0, 2.0, 2.0, 2.0)]
    # Values that differ in the last digits of floating point share a rank, as on a leaderboard.
    for measure, last, ranks in (
        ("hter", 0.2, [1, 4, 1, 3]),
        ("f1", 0.2, [3, 1, 3, 2]),
        ("hter", 0.1 + 0.2, [1, 3, 1, 3]),
    ):
        shown = [
            dataclasses.replace(curve, value=np.array([value]), measure=get_measure(measure))
            for curve, value in zip(curves, (0.1, 0.3, 0.1, last), strict=True)
        ]
        assert ranks_of(shown, 0) == ranks


def test_a_difference_in_the_last_digits_makes_nobody_better() -> None:
    pair = Pair(0, 1, False, np.array([0.5]), np.array([0.1 + 0.2 - 0.3]))
    assert pair.better(0) is None
    assert dataclasses.replace(pair, difference=np.array([-1e-9])).better(0) == 0


def test_source_files(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes(b"score,label\n")
    assert SourceFile.of(path, "mine.csv") == SourceFile("mine.csv", hashlib.sha256(b"score,label\n").hexdigest(), 12)
    assert SourceFile.of("-") == SourceFile("standard input")
    with pytest.raises(InputError, match="cannot read"):
        SourceFile.of(tmp_path / "missing.csv")


def test_rates_of_0_and_1_lie_a_little_beyond_the_axes() -> None:
    normal = NormalDist()
    assert probit(np.array([0.0, 0.25, 1.0])) == pytest.approx([normal.inv_cdf(1e-7), normal.inv_cdf(0.25), 5.19933758])


def test_replicates_of_each_pair_are_counted_in_bars() -> None:
    rng = np.random.default_rng(3)
    replicates = np.column_stack([rng.normal(0.1, 0.02, 500), rng.normal(-2, 1, 500), np.full(500, 0.25)])
    spread = ReplicateSpread.of(replicates)
    for column, counts in enumerate(spread.counts[:2]):
        expected, edges = np.histogram(replicates[:, column], bins=BARS)
        np.testing.assert_array_equal(counts, expected)
        assert (spread.low[column], spread.high[column]) == pytest.approx((edges[0], edges[-1]))
    assert spread.counts[2].tolist() == [500] + [0] * (BARS - 1)

    three, two = small_studies.study(2.5, 1.6, 2.0), small_studies.study(2.5, 1.6)
    kept = compare_all(three.curves, n_resamples=200, keep=True).replicates
    for pair in three.pairs:
        np.testing.assert_array_equal(pair.spread.counts, ReplicateSpread.of(kept[:, pair.a] - kept[:, pair.b]).counts)
    assert two.pairs[0].spread.counts.sum(axis=1).tolist() == [kept.shape[0]] * two.curves[0].alpha.size


@pytest.mark.parametrize("settings", [{}, {"resample": "both"}, {"claim": "deployed"}])
def test_a_study_draws_once_for_all_that_it_compares(monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]) -> None:
    calls: Counter[str] = Counter()
    modules = ("uncertainty.comparing.evidence", "uncertainty.ranking.leaderboard", "uncertainty.bands.bands")
    modules += ("studies.planning", "studies.evaluation.pairs")
    names = ("prepare", "gather_evidence", "expected_values")
    for module, name in product(modules, names):
        if not hasattr(import_module(f"priori.{module}"), name):
            continue
        original = getattr(import_module(f"priori.{module}"), name)

        def counted(*given: Any, name: str = name, original: Any = original, **options: Any) -> Any:
            calls[name] += 1
            return original(*given, **options)

        monkeypatch.setattr(f"priori.{module}.{name}", counted)
    study = small_studies.study(2.0, 2.1, 1.5, **settings)
    assert study.board is not None
    assert (calls["prepare"], calls["gather_evidence"]) == (1, 1)
    assert calls["expected_values"] == (study.settings.claim == "method")
    calls.clear()
    render_html(study)
    assert not calls


def test_a_page_codes_people_a_few_times_however_many_alphas_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    coded: list[int] = []
    original = People.of.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        People, "of", classmethod(lambda *given, **options: coded.append(1) or original(*given, **options))
    )
    counts = []
    for points in (5, 41):
        study = small_studies.study(2.0, 1.9, points=points, sizes={"users": 24})
        coded.clear()
        render_html(study)
        counts.append(len(coded))
    assert max(counts) <= 36
    assert counts[1] <= counts[0] + 4  # a second system may lead somewhere


def test_the_bands_of_a_comparison_are_those_of_each_system_but_for_noise() -> None:
    study = small_studies.study(2.0, 1.8, resample="both", n_resamples=1000)
    for member in study.members:
        alone = member.curve.band(resample="both", n_resamples=1000)
        assert member.band is not None
        inner = slice(1, -1)  # at the ends thresholds are extreme scores
        assert member.band.lower[inner] == pytest.approx(alone.lower[inner], abs=0.1 * alone.width.max())
        assert member.band.upper[inner] == pytest.approx(alone.upper[inner], abs=0.1 * alone.width.max())
