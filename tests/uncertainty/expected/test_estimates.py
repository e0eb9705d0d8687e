"""Estimates: contrasts and draws from the influences of units."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from priori.uncertainty.comparing.evidence import MethodEvidence, _with_mean
from priori.uncertainty.expected.influences import Estimates, Part

if TYPE_CHECKING:
    from priori.uncertainty.comparing.claims import Compared


def _estimates() -> Estimates:
    rng = np.random.default_rng(1)
    test, dev = rng.normal(size=(40, 3, 5)), rng.normal(size=(15, 3, 5))
    return Estimates(rng.normal(size=(3, 5)), (Part(test, np.full(5, 39.0)), Part(dev, np.full(5, 14.0))))


def test_a_contrast_is_a_quadratic_form_of_the_covariance() -> None:
    estimates = _estimates()
    weights = np.array([1.0, -0.5, -0.5])
    value, variance, degrees = estimates.contrast(weights)
    for k in range(5):
        each = [part.influence[:, :, k].T @ part.influence[:, :, k] for part in estimates.parts]
        by_part = [float(weights @ matrix @ weights) for matrix in each]
        assert value[k] == pytest.approx(weights @ estimates.value[:, k])
        assert variance[k] == pytest.approx(sum(by_part))
        moved = [part.influence[:, :, k] @ weights for part in estimates.parts]
        # Satterthwaite: the mean and the variance of a sum of squares, as of chi-square.
        found = [2 * square**2 / (each.size * np.var(each**2)) for square, each in zip(by_part, moved, strict=True)]
        freedom = np.minimum(found, [39, 14])
        assert degrees[k] == pytest.approx(sum(by_part) ** 2 / (np.square(by_part) / freedom).sum())
    assert (degrees < 53).all()


def test_two_systems_or_many_have_the_same_degrees() -> None:
    estimates = _estimates()
    shares = np.full(5, 0.2)
    plan = SimpleNamespace(design=SimpleNamespace(by_user=False))
    compared = cast("Compared", SimpleNamespace(shares=shares, plan=plan))
    evidence = MethodEvidence(compared, _with_mean(estimates.value.T, shares), np.empty(0), (), estimates)
    _, variance, degrees, _ = evidence.student
    for row, weights in enumerate(([1, -1, 0], [1, 0, -1], [0, 1, -1])):
        _, by_hand, freedom = estimates.contrast(weights)
        _, of_mean, freedom_of_mean = estimates.contrast(weights, shares)
        assert variance[row] == pytest.approx([*by_hand, *of_mean])
        assert degrees[row] == pytest.approx([*freedom, *freedom_of_mean])


def test_the_mean_over_alphas_is_a_contrast_too() -> None:
    estimates = _estimates()
    weights, shares = np.array([1.0, -1.0, 0.0]), np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    value, variance, _ = estimates.contrast(weights, shares)
    assert value == pytest.approx([weights @ estimates.value @ shares])
    by_hand = sum(
        ((part.influence * weights[None, :, None] * shares).sum(axis=(1, 2)) ** 2).sum() for part in estimates.parts
    )
    assert variance == pytest.approx([by_hand])


def test_draws_have_the_covariance_of_the_influences_and_share_their_numbers() -> None:
    estimates = _estimates()
    draws = estimates.draws(20_000, 7)
    assert draws.shape == (20_000, 3, 5)
    _, variance, _ = estimates.contrast([1, -1, 0])
    assert (draws[:, 0] - draws[:, 1]).var(axis=0) == pytest.approx(variance, rel=0.05)
    assert np.allclose(estimates.draws(100, 7, first=30), draws[30:130])
