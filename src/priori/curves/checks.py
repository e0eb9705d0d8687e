"""Checks: the traps that the scores of a curve may hold; curves carry what they find.

Each is a row of `CHECKS`, or of `MOVING` where it depends on the threshold. What costs a scan of a table is not looked
for there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from priori.base.cautions import Caution, gravest_first
from priori.base.errors import argument
from priori.base.limits import FEW_USERS
from priori.base.texts import alpha_text
from priori.base.types import Counts, Floats, Mask
from priori.decisions.constraints import Constraint
from priori.decisions.criteria import Best
from priori.decisions.criterion import Choice, Criterion
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores, ScoreSet, Trials
from priori.scores.pairing import repeated_ids, same_scores, shared_trials, shared_users

if TYPE_CHECKING:
    from priori.curves.epc import EPC

#: Where this few users make the errors that a limit allows, or this few are there, some kinds of users may be missing.
FEW_LIMITED, FEW_LIMIT_USERS = 5, 50
#: With fewer trials of a class nothing is said of the scale of scores.
ENOUGH_TRIALS = 20
#: The share of a class that may stand on one score, and the number of trials that always may.
TIED, FEWEST_TIED = 0.05, 5
#: Error rates of the two sets that differ by this many standard deviations differ by more than chance (p = 0.0027).
DEVIATIONS = 3.0
#: With this many degrees of freedom, Student's distribution is as good as normal.
MANY = 1e6
#: An AUC this many standard deviations from 0.5 is on one side of it.
CLEARLY = 2.0
#: How many times as wide the scores of one set may spread as those of the other, or how many spreads apart they may be.
WIDER, APART = 4.0, 2.0
#: A threshold that accepts no more than this share of either class, or rejects no more, decides nothing.
NOTHING = 0.01
#: Errors that the test set lets us expect on the development set, where there is none.
EXPECTED_ERRORS = 10.0
#: Curves at more alphas than this are judged at one alpha only.
FEW_ALPHAS = 12

#: Cautions that already explain why the rates of the two sets differ.
EXPLAIN_DISAGREEMENT = {"flipped-labels", "different-scales", "dev-looks-trained-on"}

#: The codes that are looked for in each data set of an average, where sets may be small.
TRAPS = ("same-data", "shared-trials", "repeated-trials", "reversed-scores", "flipped-labels", "different-scales")


@dataclass(frozen=True, eq=False)
class Facts:
    """What checks look at in a curve, and what they find whatever the alpha, each worked out once."""

    curve: EPC

    @cached_property
    def loaded(self) -> tuple[Scores, Scores] | None:
        """Both sets where they are in memory."""
        dev, test = self.curve.dev, self.curve.test
        return None if dev.scanned or test.scanned else (dev.load(), test.load())

    @cached_property
    def same(self) -> bool:
        """Whether both sets hold the same scores."""
        return self.curve.dev.source == self.curve.test.source if self.loaded is None else same_scores(*self.loaded)

    @property
    def sets(self) -> dict[str, ScoreSet]:
        """The sets, by what they are called; one where both are the same."""
        return {"development": self.curve.dev, **({} if self.same else {"test": self.curve.test})}

    @cached_property
    def sides(self) -> tuple[tuple[int, float], tuple[int, float]]:
        """On which side of 0.5 the AUC of either set clearly is, and the AUC."""
        return _side(self.curve.dev), _side(self.curve.test)

    @cached_property
    def lasting(self) -> dict[str, str]:
        """What the checks find that do not depend on the threshold, by their codes."""
        return {code: text for code, find in CHECKS.items() if (text := find(self))}

    def in_both(
        self, noun: str, shared: Callable[[Scores, Scores], int], size: Callable[[ScoreSet], int], so: str
    ) -> str:
        """Say how many trials or users are in both sets, where these are not one and the same."""
        if self.loaded is None or self.same or not (number := shared(*self.loaded)):
            return ""
        return f"{number:,} of {size(self.curve.test):,} test {noun} are also development {noun}: {so}"


def curve_cautions(curve: EPC, rows: Sequence[int]) -> list[tuple[Caution, ...]]:
    """Return warnings about the scores of a curve and about some of its rows (alphas): those of each row."""
    facts = curve._facts
    moving = {code: find(facts, rows) for code, find in MOVING.items()}
    found = []
    for number in range(len(rows)):
        texts = facts.lasting | {code: lines[number] for code, lines in moving.items()}
        if any(texts.get(code) for code in EXPLAIN_DISAGREEMENT):
            del texts["disagreement"]
        found.append(_cautions(texts))
    return found


def _cautions(findings: Mapping[str, str]) -> tuple[Caution, ...]:
    """Return what was found, each under its code, the gravest first."""
    return tuple(gravest_first(Caution(code, text) for code, text in findings.items() if text))


def set_cautions(scores: ScoreSet) -> tuple[Caution, ...]:
    """Return warnings about one set of scores on its own."""
    found = {"repeated-trials": _repeated({"": scores}), "reversed-scores": _reversed(_side(scores), "")}
    return _cautions(found)


def threshold_cautions(criterion: Criterion, dev: ScoreSet, alpha: Floats, choice: Choice) -> tuple[Caution, ...]:
    """Return warnings about thresholds and the one set that they were chosen on."""
    kept = _limit_not_kept(criterion, choice.outcomes, alpha, choice.threshold)
    by_users = _limit_by_users(criterion, dev, alpha, choice.threshold)
    return set_cautions(dev) + _cautions({"limit-not-kept": kept, "limit-by-users": by_users})


def common_cautions(curves: Sequence[EPC]) -> tuple[Caution, ...]:
    """Return the traps that more than half of the curves of an average are in; the words are those of the first."""
    number = len(curves)
    found = {code: [text for curve in curves if (text := CHECKS[code](curve._facts))] for code in TRAPS}
    common = {code: lines for code, lines in found.items() if 2 * len(lines) > number}
    return _cautions({code: f"in {len(lines)} of {number} data sets {lines[0]}" for code, lines in common.items()})


# -- trials, direction and scale -----------------------------------------------------------------------------


def _repeated(sets: Mapping[str, ScoreSet]) -> str:
    found = []
    for name, scores in sets.items():
        if scores.scanned:
            continue
        loaded = scores.load()
        if ids := repeated_ids(loaded):
            found.append(f"{ids:,} of {len(loaded):,} {name} trials repeat an id".replace("  ", " "))
    return f"{', '.join(found)}: intervals are too narrow; keep one row per trial" if found else ""


def _side(scores: ScoreSet) -> tuple[int, float]:
    """Return on which side of 0.5 the AUC clearly is (1, -1, or 0 for neither), and the AUC."""
    negatives, positives = scores.n_negatives, scores.n_positives
    auc = scores.pairs_in_order(rough=True) / (2 * negatives * positives)
    deviation = np.sqrt((negatives + positives + 1) / (12 * negatives * positives))
    return int(np.sign(auc - 0.5)) * int(abs(auc - 0.5) > CLEARLY * deviation), auc


def _reversed(side: tuple[int, float], where: str) -> str:
    if side[0] >= 0:
        return ""
    return (
        f"positives score lower{where or ' than negatives'} (AUC {side[1]:.3f}): mark distances as such "
        f"({argument('lower_is_better', 'True')}), or check the labels"
    )


def _flipped_labels(facts: Facts) -> str:
    (dev, dev_auc), (test, auc) = facts.sides
    if dev * test >= 0:
        return ""
    return (
        f"positives score {'higher' if dev > 0 else 'lower'} in development (AUC {dev_auc:.3f}) and "
        f"{'higher' if test > 0 else 'lower'} in test (AUC {auc:.3f}): check the labels"
    )


def _quartiles(ordered: Floats) -> tuple[float, float]:
    """Return the median and the distance between the quartiles."""
    low, median, high = (float(ordered[round(share * (ordered.size - 1))]) for share in (0.25, 0.5, 0.75))
    return median, high - low


def _different_scales(facts: Facts) -> str:
    sets = facts.loaded
    if sets is None or min(min(each.n_negatives, each.n_positives) for each in sets) < ENOUGH_TRIALS:
        return ""
    wider, apart = [], []
    for name in ("negatives", "positives"):
        (dev, dev_spread), (test, spread) = (_quartiles(getattr(scores, name)) for scores in sets)
        if not (0 < dev_spread < np.inf and 0 < spread < np.inf):
            return ""
        wider.append(spread / dev_spread)
        apart.append((test - dev) / max(spread, dev_spread))
    if min(wider) > WIDER or max(wider) < 1 / WIDER:
        ratio = f"{max(min(wider), 1 / max(wider)):.3g}"
        found = f"{'test' if min(wider) > 1 else 'development'} {ratio} times wider"
    elif min(apart) > APART or max(apart) < -APART:
        found = "shifted by over twice their spread"
    else:
        return ""
    return f"development and test scores differ in scale ({found}): check that one system made both"


def _trained_on(facts: Facts, rows: Sequence[int]) -> list[str]:
    dev, test = facts.curve.dev_outcomes[rows], facts.curve.outcomes[rows]
    expected = dev.negatives * test.fp / test.negatives + dev.positives * test.fn / test.positives
    return [
        f"no development error where the test set suggests {errors:.0f}: was the system trained on it?"
        if none and errors >= EXPECTED_ERRORS
        else ""
        for none, errors in zip((dev.fp + dev.fn == 0).tolist(), expected.tolist(), strict=True)
    ]


def _not_likelihood_ratios(facts: Facts) -> str:
    if facts.curve.criterion.name != "bayes" or facts.curve.dev.scanned:
        return ""
    from priori.decisions.likelihood_ratios import cllr

    dev = facts.curve.dev.load()
    least, most = min(dev.negatives[0], dev.positives[0]), max(dev.negatives[-1], dev.positives[-1])
    if least >= 0 or most <= 0:
        found = f"all are {'0 or above' if least >= 0 else '0 or below'}"
    elif (cost := cllr(dev)) >= 1:
        found = f"Cllr {cost:.3g} bits; no information is 1"
    else:
        return ""
    return f"scores do not look like log-likelihood ratios ({found}): use {argument('criterion', 'bayes:logistic')}"


def _separated(facts: Facts) -> str:
    if facts.curve.dev.scanned or not facts.curve.criterion.name.startswith("bayes:logistic"):
        return ""
    from priori.decisions.likelihood_ratios import separated

    if not separated(facts.curve.dev.load()):
        return ""
    return "a threshold separates the development classes: only the number of trials limits the calibration"


# -- error rates ---------------------------------------------------------------------------------------------


def _apart(trials: Sequence[Trials], thresholds: Floats, *, above: bool) -> tuple[Floats, Mask]:
    """Return the error rates of two sets (rows) at thresholds, and where they differ by more than chance.

    People are kept together where they are known. That is as unlikely as the deviations say also where people are few:
    Student's quantile stands for as many.
    """
    sizes = np.array([[len(each)] for each in trials])
    rates = np.stack([each.rejected(thresholds) for each in trials]) / sizes
    rates = 1 - rates if above else rates
    pooled, apart = (sizes * rates).sum(axis=0) / sizes.sum(), np.abs(rates[0] - rates[1])
    differ = apart > DEVIATIONS * np.sqrt(pooled * (1 - pooled) * (1 / sizes).sum())
    if not differ.any():
        return rates, differ  # nor with people, who make rates vary more
    from priori.scores.influence import rate_spreads, welch

    several = (each.user is not None and bool((each.user != each.user[0]).any()) for each in trials)
    shared = ("crossed" if known else "none" for known in several)
    spreads = [rate_spreads(each, thresholds[differ], by, above=above) for each, by in zip(trials, shared, strict=True)]
    variances = np.stack([spread.pseudo for spread in spreads]) / sizes
    deviation = np.sqrt((pooled * (1 - pooled))[differ] * variances.sum(axis=0))
    from scipy.special import ndtr, stdtrit

    freedom = welch(variances, [spread.freedom for spread in spreads], MANY)
    differ[differ] = apart[differ] > stdtrit(freedom, ndtr(DEVIATIONS)) * deviation
    return rates, differ


def _disagreements(facts: Facts, rows: Sequence[int]) -> list[str]:
    """Say for some alphas whether the threshold gives other errors on the test set than on the development set."""
    if facts.loaded is None:
        return [""] * len(rows)
    thresholds = facts.curve.threshold[rows]
    parts: list[list[str]] = [[] for _ in rows]
    for name, side in (("FAR", "negative"), ("FRR", "positive")):
        rates, differ = _apart([getattr(scores, side) for scores in facts.loaded], thresholds, above=name == "FAR")
        for at in np.flatnonzero(differ):
            dev, test = (f"{100 * rate:.3g}" for rate in rates[:, at])
            parts[at].append(f"{name} {dev} and {test} %")
    text = "at alpha {alpha} development and test differ by more than chance: {found}; find out why"
    return _at_alphas(facts, rows, parts, text)


def _at_alphas(facts: Facts, rows: Sequence[int], parts: Sequence[Sequence[str]], text: str) -> list[str]:
    """Return a text with what was found at each of some alphas; nothing where nothing was found."""
    alphas = map(alpha_text, facts.curve.alpha[rows])
    return [
        text.format(alpha=alpha, found=", ".join(found)) if found else ""
        for alpha, found in zip(alphas, parts, strict=True)
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _decides_nothing(outcomes: Outcomes) -> Mask:
    """Tell where nearly all trials of both classes are accepted, or rejected."""
    shares = np.array([outcomes.fp / outcomes.negatives, outcomes.tp / outcomes.positives])
    return np.asarray((shares <= NOTHING).all(axis=0) | (shares >= 1 - NOTHING).all(axis=0))


def _extreme_thresholds(facts: Facts, rows: Sequence[int]) -> list[str]:
    """Say for some alphas whether the threshold decides nothing; a curve of few alphas is judged at all of them."""
    curve = facts.curve
    nothing = _decides_nothing(curve.dev_outcomes) | _decides_nothing(curve.outcomes)
    alphas = np.where(nothing & (curve.alpha > 0) & (curve.alpha < 1), curve.alpha, np.nan)
    asked = [alphas] * len(rows) if alphas.size <= FEW_ALPHAS else [alphas[row : row + 1] for row in rows]
    there = [", ".join(map(alpha_text, each[~np.isnan(each)])) for each in asked]
    useless = "the threshold accepts or rejects nearly everything: the scores do not help there"
    return [f"at alpha {each} {useless}" if each else "" for each in there]


def _limit_not_kept(criterion: Criterion, outcomes: Outcomes, alpha: Floats, threshold: Floats) -> str:
    """Say so where no threshold keeps the limit of a constraint, or only one that decides nothing."""
    if not isinstance(criterion, Constraint):
        return ""
    rate = criterion.aimed_at
    beyond = rate(outcomes) - alpha
    broken = (-beyond if rate.greater_is_better else beyond) > 1e-12
    useless = np.isinf(threshold) & (alpha > 0) & (alpha < 1)
    found = broken if broken.any() else useless
    if not found.any():
        return ""
    which = f"{found.sum()} of {alpha.size} limits" if found.sum() > 1 else f"the limit {alpha_text(alpha[found][0])}"
    if broken.any():
        return f"no threshold keeps {which} of {rate.name} on the development set: the nearest was chosen"
    decided = "rejecting" if threshold[found][0] > 0 else "accepting"
    sure = "" if criterion.level is None else f" with {_percent(criterion.level)} confidence"
    return f"only {decided} every trial keeps {which} of {rate.name}{sure}: use more trials or a looser limit"


def _limit_by_users(criterion: Criterion, dev: ScoreSet, alpha: Floats, threshold: Floats) -> str:
    """Say so where a limit is promised for the population, and few users make the errors, or heavy ones do."""
    if not isinstance(criterion, Constraint) or dev.scanned or not np.isfinite(threshold).any():
        return ""
    spread = criterion.spread(dev, [Fraction(float(limit)) for limit in alpha])
    if spread is None:
        return ""
    from priori.scores.influence import FOLLOWS

    finite, users = np.isfinite(threshold), spread.most + 1
    start = "the limit is kept for users like these"
    if (finite & (spread.follows > FOLLOWS)).any():
        return f"{start}; those who try more err more, and heavier ones may be missing"
    if (few := finite & (users < FEW_LIMIT_USERS)).any():
        return f"{start}, who count for {users[few].min():.0f}: too few to show how much users differ"
    if (few := finite & (spread.erring > 0) & (spread.erring < FEW_LIMITED)).any():
        return f"{start}, of whom {spread.erring[few].min():.1f} make the errors: the next user may err more"
    return ""


def _few_units(facts: Facts, rows: Sequence[int]) -> list[str]:
    """Say for some alphas whether few users, or errors where users are not known, make the errors; or users are few."""
    curve, users = facts.curve, {name: 0 if each.scanned else each.n_users for name, each in facts.sets.items()}
    few = [f"{number} {name} user{'s' * (number != 1)}" for name, number in users.items() if 0 < number < FEW_USERS]
    if few:
        return [f"only {' and '.join(few)}: too few to show how much users differ; test more users"] * len(rows)
    outcomes, thresholds = curve.outcomes[rows], curve.threshold[rows]
    nouns = ("acceptance", "rejection") if curve.task.name == "authentication" else ("positive", "negative")
    parts: list[list[str]] = [[] for _ in rows]
    for errors, noun, above in zip((outcomes.fp, outcomes.fn), nouns, (True, False), strict=True):
        for at in np.flatnonzero(_erring(curve.test, thresholds, errors, above=above)):
            number = int(errors[at])
            parts[at].append(f"{number:,} false {noun}{'s' * (number != 1)}" if number else f"no false {noun}")
    of, more = (", from few users", "users") if curve.test.has_users else ("", "trials")
    return _at_alphas(facts, rows, parts, f"{{found}} at alpha {{alpha}}{of}: the rate is uncertain; test more {more}")


def _erring(test: ScoreSet, thresholds: Floats, errors: Counts, *, above: bool) -> Mask:
    """Tell where errors come from few users, or are few where users are not known."""
    from priori.scores.influence import FEW_UNITS, rate_spreads

    few = errors < FEW_UNITS
    if test.scanned or not test.has_users:
        return few
    trials = test.load().negative if above else test.load().positive
    return np.where(errors > 0, rate_spreads(trials, thresholds, "user", above=above).few, few)


# -- what else the sets are like -----------------------------------------------------------------------------


def _largest_tie(ordered: Floats) -> float:
    """Return the share of the largest tie, if it is large enough to matter: then it is met by steps of that size."""
    met = ordered[:: max(1, int(TIED * ordered.size))]
    sizes = np.searchsorted(ordered, met, side="right") - np.searchsorted(ordered, met, side="left")
    largest = int(sizes.max())
    return largest / ordered.size if largest >= FEWEST_TIED else 0.0


def _ties(facts: Facts) -> str:
    classes = (each for scores in facts.loaded or () for each in (scores.negatives, scores.positives))
    share = max(map(_largest_tie, classes), default=0.0)
    if share < TIED:
        return ""
    return f"{_percent(share)} of a class have the same score: rates change in large steps; keep more digits"


def _prior_shift(facts: Facts) -> str:
    sets, criterion, shown = (facts.curve.dev, facts.curve.test), facts.curve.criterion, facts.curve.measure
    measures = [shown, criterion.v1, criterion.v2, *([criterion.measure] if isinstance(criterion, Best) else [])]
    dev, test = (scores.n_negatives / scores.n_positives for scores in sets)
    balance_matters = shown.name not in ("far", "frr") and any("prevalence" in each.depends_on for each in measures)
    if max(dev / test, test / dev) < 1.5 or not balance_matters:
        return ""
    shares = [_percent(scores.n_positives / len(scores)) for scores in sets]
    return f"{shares[0]} positives in development, {shares[1]} in test: use a measure that ignores the share"


def _attacks_pooled(facts: Facts) -> str:
    test = None if facts.loaded is None or facts.curve.omega is not None else facts.loaded[1]
    if test is None or not 0 < test.n_attacks < test.n_negatives:
        return ""
    number, others = test.n_attacks, test.n_negatives - test.n_attacks
    return f"{number:,} attacks and {others:,} impostors count as one class: judge each apart, or leave attacks out"


#: Every check that does not depend on the threshold, by the code of its caution: what it finds, in words; nothing where
#: the caution does not apply.
CHECKS: dict[str, Callable[[Facts], str]] = {
    "same-data": lambda facts: (
        "development and test set hold the same scores: nothing is a priori; give a separate test set"
        if facts.same
        else ""
    ),
    "shared-trials": lambda facts: facts.in_both(
        "trials", shared_trials, len, "the rates are too good; remove them from one set"
    ),
    "repeated-trials": lambda facts: _repeated(facts.sets),
    # In both sets, or in the first while the second tells nothing: else the labels of one are flipped.
    "reversed-scores": lambda facts: "" if facts.sides[1][0] > 0 else _reversed(facts.sides[0], " in development"),
    "flipped-labels": _flipped_labels,
    "different-scales": _different_scales,
    "not-likelihood-ratios": _not_likelihood_ratios,
    "separated-development": _separated,
    "limit-not-kept": lambda facts: _limit_not_kept(
        facts.curve.criterion, facts.curve.dev_outcomes, facts.curve.alpha, facts.curve.threshold
    ),
    "limit-by-users": lambda facts: _limit_by_users(
        facts.curve.criterion, facts.curve.dev, facts.curve.alpha, facts.curve.threshold
    ),
    "ties": _ties,
    "prior-shift": _prior_shift,
    "attacks-pooled": _attacks_pooled,
    "shared-users": lambda facts: facts.in_both(
        "users", shared_users, attrgetter("n_users"), "the rates may be too good for new users"
    ),
    "counted-in-bins": lambda facts: "; ".join(
        dict.fromkeys(scores.counted for scores in facts.loaded or () if scores.counted)
    ),
}

#: Every check of a threshold: what it finds at some rows of the curve, in words for each.
MOVING: dict[str, Callable[[Facts, Sequence[int]], list[str]]] = {
    "dev-looks-trained-on": _trained_on,
    "disagreement": _disagreements,
    "extreme-threshold": _extreme_thresholds,
    "few-units": _few_units,
}
