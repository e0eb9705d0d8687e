"""How sure thresholds are: against sets drawn by hand, costs by hand, and populations whose best one is known."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import priori
from priori.decisions.criteria import WeightedSum, get_criterion
from priori.decisions.criterion import Criterion
from priori.decisions.measures import FAR, FRR
from priori.scores import Scores
from priori.uncertainty.expected.smoothed_sets import ScoreAxis
from priori.uncertainty.expected.thresholds import _rejected, _scores, threshold_interval
from validation.coverage.simulation import population

CRITERIA = [
    ("wer", [0.2, 0.5, 0.8]),
    ("eer", 0.5),
    ("at-most-far", 0.05),
    ("at-most-far:0.95", 0.05),
    ("target-frr", 0.1),
    ("max:f1", 0.5),
    ("min:dcf", 0.5),
    ("bayes:isotonic", 0.5),
]


def by_trials(users: int = 62, **options: object) -> Scores:
    """The trials of a population, without their users."""
    scores = population(users, 9, 20, **options)  # type: ignore[arg-type]
    return Scores.from_arrays(scores.negative.score, scores.positive.score)


@pytest.mark.parametrize(("criterion", "alpha"), CRITERIA)
def test_every_criterion_has_three_ranges(criterion: str, alpha: float) -> None:
    found = threshold_interval(population(40, 9, 20, rng=1), criterion=criterion, alpha=alpha)
    for what in ("best", "good"):
        lower, upper = getattr(found, f"{what}_lower"), getattr(found, f"{what}_upper")
        assert (lower < upper).all(), what
    plain, _, confidence = criterion.partition(":0.")
    if confidence:  # the population's best keeps the limit itself
        limit = threshold_interval(population(40, 9, 20, rng=1), criterion=plain, alpha=alpha)
        assert (found.best_lower, found.best_upper) == (limit.best_lower, limit.best_upper)
        assert np.isnan([found.new_lower, found.new_upper]).all()
    else:
        assert (found.new_lower < found.best_lower).all()
        assert (found.best_upper < found.new_upper).all()
    assert (found.good_lower <= found.threshold).all()
    assert (found.threshold <= found.good_upper).all()
    exact = priori.choose_threshold(population(40, 9, 20, rng=1), criterion=criterion, alpha=np.atleast_1d(alpha)[0])
    assert found.threshold[0] == exact


def test_new_sets_choose_within_and_the_best_lies_within() -> None:
    """A fixed seed; 40 sets and 60 new ones, of which the interval of 95 % should hold nearly all."""
    rule, alphas = get_criterion("wer"), [Fraction(1, 2)]
    later = np.array([rule.choose(population(40, 9, 20, rng=(7, k)), alphas).threshold[0] for k in range(60)])
    held, right = [], 0
    for k in range(40):
        found = threshold_interval(population(40, 9, 20, rng=(8, k)), alpha=0.5, rng=k)
        held.append(((later >= found.new_lower) & (later <= found.new_upper)).mean())
        right += bool(found.best_lower[0] <= 1.25 <= found.best_upper[0])
    assert 0.90 <= np.mean(held) <= 0.98
    assert right >= 35


def test_the_range_as_good_is_the_costs_by_hand() -> None:
    scores = by_trials(9, rng=3)  # so few trials that each of them is a unit
    negative, positive = scores.negative.sorted, scores.positive.sorted
    found = threshold_interval(scores, alpha=0.3)
    candidates = np.sort(np.concatenate([negative, positive]))
    far = 1 - np.searchsorted(negative, candidates, side="right") / negative.size
    frr = np.searchsorted(positive, candidates, side="right") / positive.size
    cost = 0.3 * far + 0.7 * frr
    best = int(np.argmin(cost))
    variance = 0.09 * far * (1 - far) / (negative.size - 1) + 0.49 * frr * (1 - frr) / (positive.size - 1)
    worse = np.flatnonzero(cost > cost[best] + np.sqrt(variance[best]))
    low, high = worse[worse < best].max(), worse[worse > best].min()
    # The first threshold that is not as good rejects candidate low, and no more than that.
    assert candidates[low - 1] <= found.good_lower[0] <= candidates[low + 2]
    assert candidates[high - 2] <= found.good_upper[0] <= candidates[high + 1]


def test_a_limit_is_kept_in_the_whole_range() -> None:
    scores = population(40, 9, 20, rng=1)
    found = threshold_interval(scores, criterion="at-most-far", alpha=0.05)
    inside = np.linspace(found.good_lower[0], found.good_upper[0], 50)[1:]
    assert (FAR(priori.count(scores, inside)) <= 0.05 + 1 / scores.n_negatives).all()


def test_a_rising_map_of_the_scores_maps_the_ranges() -> None:
    scores = population(30, 9, 20, rng=2)
    mapped = Scores.from_predictions(
        np.repeat([0, 1], [scores.n_negatives, scores.n_positives]),
        np.exp(np.concatenate([scores.negative.score, scores.positive.score])),
        user=np.concatenate([scores.negative.user, scores.positive.user]),
    )
    plain, other = threshold_interval(scores, alpha=0.5), threshold_interval(mapped, alpha=0.5)
    for name in ("new_lower", "new_upper", "best_lower", "best_upper"):
        # Gaps between neighbouring scores are divided in the middle on either scale.
        assert np.exp(getattr(plain, name)) == pytest.approx(getattr(other, name), rel=0.05)


def test_few_levels_have_ranges_between_levels() -> None:
    rng = np.random.default_rng(1)
    scores = Scores.from_arrays(rng.binomial(6, 0.3, 400), rng.binomial(6, 0.7, 400))
    found = threshold_interval(scores, alpha=0.5)
    assert found.threshold[0] % 1 == 0.5
    assert {float(np.round(end, 9)) % 1 for end in (found.new_lower[0], found.new_upper[0])} == {0.0}
    assert found.best_lower[0] <= found.threshold[0] <= found.best_upper[0]


def test_a_scan_gives_nearly_the_same(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("scan") / "dev.csv"
    scores = by_trials(rng=5)
    rows = [f"{score},0" for score in scores.negative.score] + [f"{score},1" for score in scores.positive.score]
    path.write_text("score,label\n" + "\n".join(rows) + "\n")
    memory, scan = (threshold_interval(each, alpha=0.5) for each in (priori.read(path), priori.scan(path)))
    assert memory.threshold == scan.threshold
    width = memory.new_upper - memory.new_lower
    for name in ("new_lower", "new_upper", "best_lower", "best_upper", "good_lower", "good_upper"):
        assert abs(getattr(memory, name) - getattr(scan, name)) < 0.15 * width


def test_crossed_people_are_not_counted_twice() -> None:
    """Where nobody differs, pairs of people tell as much as independent trials."""
    scores = population(40, 9, 39, user_effect_sd=0.0, crossed=True, rng=4)
    crossed, plain = (threshold_interval(scores, alpha=0.5, bootstrap=each) for each in ("crossed", "sample"))
    assert (crossed.new_upper - crossed.new_lower) < 1.3 * (plain.new_upper - plain.new_lower)


def test_theory_and_two_levels_are_refused() -> None:
    scores = population(20, 9, 20, rng=1)
    with pytest.raises(priori.OptionError, match="bayes sets thresholds by theory"):
        threshold_interval(scores, criterion="bayes")
    with pytest.raises(priori.OptionError, match="sample, rows, user, crossed, not by joint"):
        threshold_interval(scores, bootstrap="joint")


def test_cautions_say_where_nothing_holds() -> None:
    codes = {line.code for line in threshold_interval(population(8, 3, 5, rng=1), alpha=[0, 0.5]).warnings}
    assert {"few-dev-users", "ends"} <= codes


@dataclass(frozen=True)
class Own(Criterion):
    """A criterion of somebody's own, which has no cost."""

    def select(self, candidates, alphas):  # type: ignore[no-untyped-def]
        return WeightedSum("wer", FAR, FRR).select(candidates, alphas)


def test_a_criterion_without_a_cost_has_no_range_as_good() -> None:
    found = threshold_interval(by_trials(20, rng=1), criterion=Own("own", FAR, FRR), alpha=0.5)
    assert np.isnan([found.good_lower[0], found.good_upper[0]]).all()
    assert found.custom == ("criterion",)


def test_bins_and_thresholds_are_one_another() -> None:
    axis = ScoreAxis(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([-np.inf, 0.0, 1.0, np.inf]), False)
    assert [_rejected(axis, threshold) for threshold in (-np.inf, 0.5, 1.5, np.inf)] == [1, 2, 3, 4]
    lower, upper = _scores(axis, (np.array([2.0, -5.0]), np.array([2.0, 9.0])))
    assert lower.tolist() == [-np.inf, -np.inf]
    assert upper.tolist() == [np.nextafter(1.0, 0.0), np.inf]
