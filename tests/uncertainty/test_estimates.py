"""Estimates: contrasts and draws from the influences of units."""

from __future__ import annotations

import numpy as np
import pytest

from priori.uncertainty.estimates import Estimates, Part


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
        assert degrees[k] == pytest.approx(sum(by_part) ** 2 / (by_part[0] ** 2 / 39 + by_part[1] ** 2 / 14))


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
