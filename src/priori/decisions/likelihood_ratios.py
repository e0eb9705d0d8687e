"""Scores as log-likelihood ratios: maps to them that are fitted on development scores, and what they cost.

N. Brümmer and J. du Preez, "Application-independent evaluation of speaker detection", Computer Speech and Language 20,
2006. All maps rise with the score, so accepting a ratio above a threshold is accepting a score above another one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.types import Floats
from priori.decisions.criteria import WeightedSum, get_criterion
from priori.decisions.criterion import Choice, Criterion
from priori.decisions.hull import whole_hull
from priori.decisions.measures import FAR, FRR
from priori.decisions.outcomes import Outcomes, count_all
from priori.scores import BOUND, Scores, ScoreSet, condense
from priori.scores.candidates import Candidates
from priori.scores.score_set import as_score_set

#: What scores are taken for: log-likelihood ratios, or probabilities of the positive class.
Meaning = Literal["llr", "probabilities"]
CalibrationMethod = Literal["none", "logistic", "isotonic"]
#: Every calibration method by the name people type, with what it does.
CALIBRATIONS: dict[CalibrationMethod, str] = {
    "none": "the scores are log-likelihood ratios already",
    "logistic": "an affine map by logistic regression with weighted classes; logistic:0.01 weighs them by that prior",
    "isotonic": "a rising step map by pooled adjacent violators (PAV), with a pseudo-trial of each class at both ends",
}
#: Newton's steps end where the next one would gain less than this share of the cost, or after so many.
GAIN, STEPS = 1e-15, 100

Given = TypeVar("Given", Scores, Floats)


# -- maps --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LLRMap(ABC):
    """A rising map from scores to log-likelihood ratios. Made by `calibrate`."""

    method: str

    def apply(self, scores: Given) -> Given:
        """Return the log-likelihood ratios of an array of scores, or a set of scores with them in place of its own."""
        if isinstance(scores, Scores):
            classes = (replace(trials, score=self._llr(trials.score)) for trials in (scores.negative, scores.positive))
            negative, positive = classes
            return replace(scores, negative=negative, positive=positive)
        return self._llr(np.asarray(scores, dtype=np.float64))

    def to_dict(self) -> dict[str, Any]:
        """Return what a file holds: the coefficients, None where such a map has none."""
        held = {name: getattr(self, name, None) for name in ("method", "slope", "offset", "boundaries", "llr")}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in held.items()}

    @abstractmethod
    def _llr(self, scores: Floats) -> Floats:
        """Return the log-likelihood ratios of scores."""

    @abstractmethod
    def thresholds(self, log_odds: Floats) -> Floats:
        """Return the threshold of scores that accepts where the log-likelihood ratio is greater than ``log_odds``."""


@dataclass(frozen=True, eq=False)
class AffineMap(LLRMap):
    """``slope * score + offset``; a slope of 0 says that scores tell nothing: all ratios are 0."""

    slope: float
    offset: float

    def _llr(self, scores: Floats) -> Floats:
        return np.asarray(self.slope * scores + self.offset) if self.slope else np.full(scores.shape, self.offset)

    def thresholds(self, log_odds: Floats) -> Floats:
        if not self.slope:
            return np.where(self.offset > log_odds, -np.inf, np.inf)
        return np.asarray((log_odds - self.offset) / self.slope)


@dataclass(frozen=True, eq=False)
class StepMap(LLRMap):
    """``llr[i]`` above ``boundaries[i - 1]``, up to ``boundaries[i]``."""

    boundaries: Floats
    llr: Floats

    def _llr(self, scores: Floats) -> Floats:
        return np.asarray(self.llr[np.searchsorted(self.boundaries, scores, side="left")])

    def thresholds(self, log_odds: Floats) -> Floats:
        ends = np.concatenate([[-np.inf], self.boundaries, [np.inf]])
        return np.asarray(ends[np.searchsorted(self.llr, log_odds, side="right")])


@dataclass(frozen=True, eq=False)
class ProbabilityMap(LLRMap):
    """The log-odds of a probability, minus those of the positive class where it was learnt; 0 and 1 are infinite."""

    log_odds: float

    @classmethod
    def of(cls, dev: ScoreSet) -> ProbabilityMap:
        """Return the map of probabilities that were learnt where positives are as many as in the development set."""
        return cls("probabilities", math.log(dev.n_positives / dev.n_negatives))

    def _llr(self, scores: Floats) -> Floats:
        outside = (scores < 0) | (scores > 1)
        if outside.any():
            raise InputError(
                f"probabilities lie between 0 and 1, and {outside.sum():,} scores do not, such as "
                f"{scores[outside][0]:g}; leave out {argument('given', 'probabilities')}"
            )
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(scores) - np.log1p(-scores) - self.log_odds)

    def thresholds(self, log_odds: Floats) -> Floats:
        return _expit(log_odds + self.log_odds)


def hull_candidates(scores: ScoreSet) -> Candidates:
    """Return candidates among which are all the vertices of the ROC's hull."""
    return scores.candidates(get_criterion("wer"), None)


def best_map(candidates: Candidates, pseudo: int = 0) -> StepMap:
    """Return the rising map that fits the scores of the candidates best (PAV): a step for each edge of the ROC's hull.

    Without ``pseudo`` trials of each class at both ends, the ratio of the first and of the last step is infinite where
    only one class is there.
    """
    fp, fn = whole_hull(candidates, pseudo)
    boundaries = candidates.thresholds(fp[1:-1] - pseudo, fn[1:-1] - pseudo)
    negatives, positives = -np.diff(fp) / fp[0], np.diff(fn) / fn[-1]
    with np.errstate(divide="ignore"):
        return StepMap("isotonic", boundaries, np.log(positives) - np.log(negatives))


# -- fitting -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calibrator:
    """How scores become log-likelihood ratios: fitted on development scores, applied to any."""

    method: CalibrationMethod = "none"
    prior: float = 0.5

    @property
    def name(self) -> str:
        """What people type."""
        return self.method if self.prior == 0.5 else f"{self.method}:{self.prior:g}"

    def fit(self, dev: ScoreSet) -> LLRMap:
        """Return the map that fits the development scores."""
        match self.method:
            case "none":
                return AffineMap("none", 1.0, 0.0)
            case "isotonic":
                return best_map(hull_candidates(dev), pseudo=1)
            case _:
                return _affine(condense(dev, narrow=BOUND)[0], self)


def get_calibrator(calibrate: str | Calibrator) -> Calibrator:
    """Return a calibration from its name, or as it is."""
    if isinstance(calibrate, Calibrator):
        return calibrate
    name, _, typed = str(calibrate).strip().lower().partition(":")
    for method in get_args(CalibrationMethod):
        if name == method and (method == "logistic" or not typed):
            return Calibrator(method, _prior(typed) if typed else 0.5)
    raise unknown("calibration", calibrate, CALIBRATIONS)


def _prior(typed: str) -> float:
    try:
        prior = float(Fraction(typed))
    except (ValueError, ZeroDivisionError):
        prior = math.nan
    if not 0 < prior < 1:
        raise OptionError(f"calibration 'logistic:{typed}': the prior must lie between 0 and 1, such as logistic:0.01")
    return prior


def calibrate(dev: Any, *, method: CalibrationMethod = "logistic", prior: float = 0.5) -> LLRMap:
    """Fit a map from scores to log-likelihood ratios on development scores; its ``apply`` calibrates any scores.

    Parameters
    ----------
    dev : Scores, Table, or frame
        The development set.
    method : {"none", "logistic", "isotonic"}
        Nothing; an affine map by logistic regression; or a rising step map (PAV), with a pseudo-trial of each class at
        both ends (Laplace's rule), so that no ratio is infinite.
    prior : float
        The share of positives that weighs the classes, whatever their sizes; logistic regression fits best there.

    Notes
    -----
    Where the development classes are separated, or nearly so, logistic regression has no finite fit. The classes then
    have Platt's targets, (n + 1)/(n + 2) and 1/(n + 2) of a class of n trials, instead of 1 and 0. A slope is never
    below 0: scores that point the wrong way carry no information. Infinite scores take no part in the fit.

    Examples
    --------
    >>> import priori
    >>> dev = priori.Scores.from_arrays(negatives=[-2, -1, 0, 1], positives=[-1, 0, 1, 2])
    >>> fitted = priori.calibrate(dev)
    >>> fitted.apply([0.0, 2.0]).round(3).tolist()
    [-0.0, 1.513]
    """
    if isinstance(prior, str) or not 0 < prior < 1:
        raise OptionError(f"the prior of a calibration must lie between 0 and 1, not {prior!r}")
    if method not in CALIBRATIONS:
        raise unknown("calibration", method, CALIBRATIONS)
    return Calibrator(method, prior).fit(as_score_set(dev))


def separated(scores: Scores) -> bool:
    """Tell whether a threshold separates the finite scores of the classes, so that no finite affine map fits best."""
    negative, positive = (trials.score[np.isfinite(trials.score)] for trials in (scores.negative, scores.positive))
    return not negative.size or not positive.size or bool(negative.max() <= positive.min())


def logistic_fit(score: Floats, target: Floats, weight: Floats, prior: float) -> Floats | None:
    """Return slope and offset of weighted logistic regression; None where it does not converge.

    By Newton's method, steps halved until they gain; the cost is convex.
    """
    design, odds = np.column_stack([score, np.ones(score.size)]), math.log(prior / (1 - prior))

    def cost_of(coefficients: Floats) -> float:
        logit = design @ coefficients + odds
        return float(weight @ (np.logaddexp(0, logit) - target * logit))

    coefficients = np.zeros(2)
    cost = cost_of(coefficients)
    for _ in range(STEPS):
        posterior = _expit(design @ coefficients + odds)
        gradient = ((weight * (posterior - target))[:, None] * design).sum(axis=0)
        curvature = design.T @ ((weight * posterior * (1 - posterior))[:, None] * design)
        if not np.linalg.cond(curvature) < 1 / GAIN:
            return None
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step / 2 <= GAIN * cost:
            return np.asarray(coefficients - step)  # a last step is cheap, and doubles the correct digits
        share = 1.0
        while (new := cost_of(coefficients - share * step)) > cost and share > GAIN:
            share /= 2
        coefficients, cost = coefficients - share * step, new
    return None


def _affine(scores: Scores, calibrator: Calibrator) -> AffineMap:
    """Return the affine map of logistic regression; finite scores are brought to mean 0 and spread 1 for it."""
    name, prior = calibrator.name, calibrator.prior
    known = [trials.take(np.isfinite(trials.score)) for trials in (scores.negative, scores.positive)]
    entries = [trials.score.size for trials in known]
    # Halves: scores may be as large as the largest float. With slope 0 the cost falls with it only where positives are
    # higher.
    halves = [trials.score / 2 for trials in known]
    numbers = [np.ones(trials.score.size, np.int64) if trials.number is None else trials.number for trials in known]
    if not all(entries) or not np.average(halves[1], weights=numbers[1]) > np.average(halves[0], weights=numbers[0]):
        return AffineMap(name, 0.0, 0.0)
    half, number = np.concatenate(halves), np.concatenate(numbers)
    centre = float(np.average(half, weights=number))
    spread = float(np.sqrt(np.average((half - centre) ** 2, weights=number)))
    score, sizes = (half - centre) / spread, [int(own.sum()) for own in numbers]
    weight = np.repeat([(1 - prior) / sizes[0], prior / sizes[1]], entries) * number
    low, high = np.split(score, entries[:1])
    apart = low.max() <= high.min()
    best = None if apart else logistic_fit(score, np.repeat([0.0, 1.0], entries), weight, prior)
    if best is None:
        platt = np.repeat([1 / (sizes[0] + 2), (sizes[1] + 1) / (sizes[1] + 2)], entries)
        best = logistic_fit(score, platt, weight, prior)
    slope, offset = (0.0, 0.0) if best is None else (float(best[0]), float(best[1]))
    if not slope > 0:
        return AffineMap(name, 0.0, 0.0)
    return AffineMap(name, slope / spread / 2, offset - slope * centre / spread)


def _expit(values: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(values))


# -- thresholds and costs ----------------------------------------------------------------------------------------


def log_odds(alphas: Sequence[Fraction]) -> Floats:
    """Return log(alpha / (1 - alpha)): the log-likelihood ratio above which accepting costs less, at each alpha."""
    return np.array(
        [-math.inf if alpha <= 0 else math.inf if alpha >= 1 else math.log(alpha / (1 - alpha)) for alpha in alphas]
    )


def llr_losses(negative: ArrayLike, positive: ArrayLike) -> tuple[Floats, Floats]:
    """Return the logarithmic loss of each log-likelihood ratio of the negatives and of the positives, in bits."""
    return (
        np.logaddexp(0, np.asarray(negative, dtype=np.float64)) / math.log(2),
        np.logaddexp(0, -np.asarray(positive, dtype=np.float64)) / math.log(2),
    )


def cllr(scores: Any) -> float:
    """Return the cost of scores as log-likelihood ratios, Cllr, in bits: 0 is perfect, 1 is what knowing nothing costs.

    Examples
    --------
    >>> import priori
    >>> round(priori.cllr(priori.Scores.from_arrays(negatives=[-2, -1, 1], positives=[-1, 1, 2])), 4)
    0.8432
    """
    known, _ = condense(as_score_set(scores), narrow=BOUND)
    return _mean_loss(known, known.negative.score, known.positive.score)


def _mean_loss(scores: Scores, negative: Floats, positive: Floats) -> float:
    """Return the cost of log-likelihood ratios of the trials of a set."""
    classes = zip(llr_losses(negative, positive), (scores.negative, scores.positive), strict=True)
    return float(sum(np.average(loss, weights=trials.number) for loss, trials in classes) / 2)


def a_posteriori_min_cllr(scores: Any) -> float:
    """Return the least Cllr that any rising map of these scores has on them (PAV), a posteriori.

    Examples
    --------
    >>> import priori
    >>> round(priori.a_posteriori_min_cllr(priori.Scores.from_arrays(negatives=[-2, -1, 1], positives=[-1, 1, 2])), 4)
    0.6667
    """
    candidates = hull_candidates(as_score_set(scores))
    best, (fp, fn) = best_map(candidates), whole_hull(candidates, 0)
    cost = 0.0
    for loss, number in zip(llr_losses(best.llr, best.llr), (-np.diff(fp), np.diff(fn)), strict=True):
        there = number > 0  # a step without trials of a class may be infinitely wrong for it
        cost += float(np.average(loss[there], weights=number[there])) / 2
    return cost


# -- thresholds by theory ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bayes(Criterion):
    """``LLR > log(alpha / (1 - alpha))``: theory's threshold for ``alpha FAR + (1 - alpha) FRR``.

    Scores are log-likelihood ratios once a calibration, fitted on the development set, has been applied. As it rises
    with the score, the threshold is one of scores.
    """

    calibrator: Calibrator = field(default_factory=Calibrator)

    @property
    def reads_development(self) -> bool:
        return self.calibrator.method != "none"

    @property
    def in_hindsight(self) -> Criterion:
        return WeightedSum("wer", FAR, FRR)

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        return self.in_hindsight.cost(outcomes, alpha)

    def fitted(self, scores: ScoreSet) -> LLRMap:
        return self.calibrator.fit(scores)

    def choose_all(self, sets: Sequence[ScoreSet], alphas: Sequence[Fraction]) -> list[Choice]:
        thresholds = [self.fitted(scores).thresholds(log_odds(alphas)) for scores in sets]
        return [Choice(*each) for each in zip(thresholds, count_all(sets, thresholds), strict=True)]
