"""Systems at the public level: drawn apart when they are unpaired, and ranked in the direction of their measure."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori import Scores


def scored(seed: int, quality: float = 1.5, users: int = 40) -> Scores:
    rng = np.random.default_rng(seed)
    user = np.tile(np.repeat(np.arange(users), 10), 2)
    label = np.repeat([0, 1], 10 * users)
    return Scores.from_predictions(label, rng.normal(quality * label) + rng.normal(0, 0.4, users)[user], user=user)


@pytest.mark.parametrize("bootstrap", ["sample", "user", "joint"])
def test_unpaired_systems_are_drawn_apart(bootstrap: str) -> None:
    # A system and its copy: drawn together they would never differ, drawn apart variances add up.
    dev, test = scored(1), scored(2)
    a, b = (priori.epc(dev, test, alpha=[0.3, 0.5], name=name) for name in "AB")
    options = {"bootstrap": bootstrap, "n_resamples": 4000, "interval": "percentile"}
    apart = priori.compare(a, b, unpaired=True, claim="deployed", **options)
    spread = a.band(keep=True, **options).replicates.std(axis=0)
    # Half of a 95 % interval is 1.96 standard deviations, of the difference of two.
    width = (apart.pointwise.upper - apart.pointwise.lower) / 2 / 1.96
    np.testing.assert_allclose(width, np.sqrt(2) * spread, rtol=0.08)


@pytest.mark.parametrize(
    ("task", "measure", "order"),
    [
        ("authentication", "hter", "BCA"),
        ("authentication", "accuracy", "BCA"),
        ("authentication", "tnr", "BCA"),
        ("retrieval", "f1", "BCA"),
        ("diagnosis", "specificity", "BCA"),
        ("diagnosis", "error", "BCA"),
    ],
)
def test_the_best_comes_first_whichever_way_the_measure_goes(task: str, measure: str, order: str) -> None:
    curves = [
        priori.epc(scored(5, quality), scored(6, quality), task=task, measure=measure, alpha=[0.4, 0.5], name=name)
        for name, quality in (("A", 0.6), ("B", 3.0), ("C", 1.6))
    ]
    ranking = priori.compare_all(curves, n_resamples=300)
    best = {curve.name: float(curve.value[1]) for curve in curves}
    places = ranking.places(0.5)
    assert "".join(place.name for place in places) == order
    assert [place.value for place in places] == pytest.approx([best[name] for name in order])
    assert "".join(place.name for place in ranking.places()) == order
    assert places[0].groups != places[-1].groups
