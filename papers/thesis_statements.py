"""Statements of the thesis that no table of its own decides, judged by simulation (sections 3.1 to 3.3)."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

import priori
from papers.results import Conclusion
from priori.base.types import Floats, Mask
from priori.examples import load
from priori.scores import Scores

__all__ = ["statements"]

#: Trials of a class in the simulated sets from which thresholds are chosen, and the distance of the classes.
FEW, APART = 30, 2.0
#: Trials of a class in the simulated tests, and the error rates of both systems.
TRIALS, RATE = 400, 0.1
SHARED = (0.0, 0.5, 0.9)


def statements(draws: int) -> list[Conclusion]:
    """Judge each statement with as many draws of the scores."""
    return [_robust_eer(draws), _half_is_break_even(), _separate_tests(draws), _alike(draws)]


def _chosen(spread: float, draws: int) -> dict[str, Floats]:
    """Return the HTER of the population at the thresholds that two criteria choose on few scores."""
    rng = np.random.default_rng([31, int(10 * spread)])
    found: dict[str, list[float]] = {"eer": [], "wer": []}
    for _ in range(draws):
        dev = Scores.from_arrays(rng.normal(0, 1, FEW), rng.normal(APART, spread, FEW))
        for criterion, hters in found.items():
            at = priori.choose_threshold(dev, criterion=criterion, alpha=0.5)
            hters.append(float(ndtr(-at) + ndtr((at - APART) / spread)) / 2)
    return {criterion: 100 * np.array(hters) for criterion, hters in found.items()}


def _robust_eer(draws: int) -> Conclusion:
    parts, better = [], []
    for spread, words in ((1.0, "equal spreads"), (3.0, "positives spread three times as wide")):
        found = _chosen(spread, draws)
        better.append(found["eer"].mean() < found["wer"].mean())
        eer, wer = (f"{found[name].mean():.1f} ± {found[name].std():.1f}" for name in ("eer", "wer"))
        parts.append(f"{words}: {eer} against {wer} %")
    return Conclusion(
        "Section 3.1: as a criterion for the threshold EER is more robust than HTER, which can fall in a local minimum",
        all(better),
        f"HTER of the population with {FEW} development trials a class, {draws} draws; "
        + "; ".join(parts)
        + ". It is steadier only where the classes spread alike",
    )


def _half_is_break_even() -> Conclusion:
    rates = []
    for sets in load("faces").systems.values():
        at = priori.epc(sets.dev, sets.dev, alpha=["0.5"])
        rates.append((100 * at.v1[0], 100 * at.v2[0]))
    return Conclusion(
        "Section 3.2: gamma = 0.5 is the setting where a break-even point was sought",
        all(abs(far - frr) < 1 for far, frr in rates),
        "it minimises FAR + FRR, which need not be equal there: on the development sets of the faces FAR and FRR are "
        + ", ".join(f"{far:.1f} and {frr:.1f}" for far, frr in rates)
        + " %. The break-even point is the criterion eer",
    )


def _wrong(rng: np.random.Generator, rate: float, shared: Mask | None = None, share: float = 0.0) -> Mask:
    """Draw which trials are errors, a share of them as in another system."""
    own = rng.random(TRIALS) < rate
    if shared is not None:
        same = rng.random(TRIALS) < share
        own[same] = shared[same]
    return own


def _scores(negatives: Mask, positives: Mask) -> Scores:
    """Return decisions as scores: an impostor's error is 1, a client's 0."""
    label = np.repeat([0, 1], TRIALS)
    return Scores.from_predictions(
        label, np.concatenate([negatives, ~positives]).astype(float), trial=np.arange(2 * TRIALS)
    )


def _separate_tests(draws: int) -> Conclusion:
    """Two systems with the same HTER, of which one errs more on impostors and the other more on clients."""
    rng = np.random.default_rng(33)
    seen = np.zeros((draws, 3), bool)
    for row in seen:
        wrong = [(_wrong(rng, far), _wrong(rng, frr)) for far, frr in ((0.08, 0.14), (0.14, 0.08))]
        for place in (0, 1):
            a, b = wrong[0][place], wrong[1][place]
            row[place] = priori.mcnemar_test(np.sum(a & ~b), np.sum(b & ~a), TRIALS).p_value < 0.05
        row[2] = _differ(_scores(*wrong[0]), _scores(*wrong[1]))
    far, frr, hter = 100 * seen.mean(axis=0)
    return Conclusion(
        "Section 3.3: tests of FAR and FRR separately mislead where two systems with one HTER lean to either side",
        bool(far > 50 and frr > 50 and hter < 10),
        f"FAR 8 and FRR 14 % against 14 and 8 %, {TRIALS} trials of each, {draws} draws: they find a difference in "
        f"{far:.0f} and {frr:.0f} % of draws, the test of the HTER in {hter:.1f} %. They answer another question: the "
        "systems do differ, at their thresholds",
    )


def _differ(a: Scores, b: Scores) -> bool:
    """Return whether the dependent test of HTERs (3.33) finds a difference."""
    comparison = priori.ztest_scores(a, 0.5, b, 0.5).comparison
    assert comparison is not None
    return bool(comparison["dependent"].confidence > 0.95)


def _alike(draws: int) -> Conclusion:
    """How often the dependent test rejects a true null where systems share errors."""
    rng = np.random.default_rng(37)
    sizes = []
    for share in SHARED:
        found = 0
        for _ in range(draws):
            a = _wrong(rng, RATE), _wrong(rng, RATE)
            b = _wrong(rng, RATE, a[0], share), _wrong(rng, RATE, a[1], share)
            found += _differ(_scores(*a), _scores(*b))
        sizes.append(found / draws)
    error = 100 * np.sqrt(0.05 * 0.95 / draws)
    return Conclusion(
        "Section 3.3: the dependent test underestimates the variance when the models are very correlated",
        bool(max(sizes) > 0.05 + 3 * error / 100),
        "of two systems as good as each other it finds a difference in "
        + ", ".join(f"{100 * size:.1f}" for size in sizes)
        + f" % of {draws} draws at 0, 50 and 90 % shared decisions, where 5 are allowed (standard error {error:.1f}). "
        "Its variance is small because the difference varies little",
    )
