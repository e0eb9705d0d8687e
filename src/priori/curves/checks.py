"""Checks: the traps that the scores of a curve may hold, one entry each; curves carry what they find as warnings.

What costs a scan of a table is not looked for there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.errors import argument
from priori.base.types import Floats, Mask
from priori.decisions.constraints import Constraint
from priori.decisions.criteria import Best, get_criterion
from priori.decisions.criterion import Choice, Criterion
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores, ScoreSet, Trials
from priori.scores.overlaps import repeated_ids, same_scores, shared_trials, shared_users, times_repeated

if TYPE_CHECKING:
    from priori.curves.epc import EPC

#: Below this many users the spread between them is hardly known.
FEW_USERS = 10
#: Where so few users make the errors that a limit allows, or are there, all kinds of users may not have been seen.
FEW_LIMITED, FEW_LIMIT_USERS = 5, 50
#: With fewer trials of a class nothing is said of the scale of scores.
ENOUGH_TRIALS = 20
#: The share of a class that may stand on one score, and the number of trials that always may.
TIED, FEWEST_TIED = 0.05, 5
#: Error rates of the two sets that differ by this many standard deviations differ by more than chance (p = 0.0027).
DEVIATIONS = 3.0
#: With so many degrees of freedom Student's distribution is the normal one.
MANY = 1e6
#: An AUC this many standard deviations from 0.5 is on one side of it.
CLEARLY = 2.0
#: How many times as wide the scores of one set may spread as those of the other, or how many spreads apart they may be.
WIDER, APART = 4.0, 2.0
#: A threshold that accepts no more than this share of either class, or rejects no more, decides nothing.
NOTHING = 0.01
#: Errors that the test set lets us expect on the development set, where there is none.
EXPECTED_ERRORS = 10.0
#: Curves of more alphas than this are judged at one alpha only.
FEW_ALPHAS = 12

#: What says already why the rates of the two sets differ.
EXPLAIN_DISAGREEMENT = {"flipped-labels", "different-scales", "dev-looks-trained-on"}

#: The codes that are looked for in each data set of an average, where sets may be small.
TRAPS = ("same-data", "shared-trials", "repeated-trials", "reversed-scores", "flipped-labels", "different-scales")

#: What a check finds, in words, at one row of a curve: nothing where its caution does not apply.
Find = Callable[["EPC", int], str]


def curve_cautions(curve: EPC, row: int) -> tuple[Caution, ...]:
    """Return warnings about the scores of a curve, and about its row ``row``, the alpha of interest."""
    findings = {code: find(curve, row) for code, find in CHECKS.items()}
    if any(findings[code] for code in EXPLAIN_DISAGREEMENT):
        findings.pop("disagreement")
    return _cautions(findings)


def _cautions(findings: Mapping[str, str]) -> tuple[Caution, ...]:
    """Return what was found, each under its code."""
    return tuple(Caution(code, text) for code, text in findings.items() if text)


def set_cautions(scores: ScoreSet) -> tuple[Caution, ...]:
    """Return warnings about one set of scores, by itself."""
    return _cautions({"repeated-trials": _repeated_in(scores, "the set"), "reversed-scores": _reversed_in(scores, "")})


def threshold_cautions(criterion: Criterion, dev: ScoreSet, alpha: Floats, choice: Choice) -> tuple[Caution, ...]:
    """Return warnings about thresholds and the one set that they were chosen on."""
    kept = _limit_not_kept(criterion, choice.outcomes, alpha, choice.threshold)
    by_users = _limit_by_users(criterion, dev, alpha, choice.threshold)
    return set_cautions(dev) + _cautions({"limit-not-kept": kept, "limit-by-users": by_users})


def common_cautions(curves: Sequence[EPC]) -> tuple[Caution, ...]:
    """Return the traps that more than half of the curves of an average are in; the words are those of the first."""
    found = {code: [text for curve in curves if (text := CHECKS[code](curve, 0))] for code in TRAPS}
    common = {code: lines for code, lines in found.items() if 2 * len(lines) > len(curves)}
    number = len(curves)
    return _cautions({code: f"in {len(lines)} of {number} data sets {lines[0]}" for code, lines in common.items()})


def middle(curve: EPC) -> int:
    """Return the row nearest to alpha = 0.5."""
    return int(np.argmin(np.abs(curve.alpha - 0.5)))


def _loaded(curve: EPC) -> tuple[Scores, Scores] | None:
    """Return both sets where they are in memory."""
    return None if curve.dev.scanned or curve.test.scanned else (curve.dev.load(), curve.test.load())


def _named_sets(curve: EPC) -> dict[str, ScoreSet]:
    return {"the development set": curve.dev, **({} if _same(curve) else {"the test set": curve.test})}


# -- the same trials -----------------------------------------------------------------------------------------


def _same(curve: EPC) -> bool:
    sets = _loaded(curve)
    return curve.dev.source == curve.test.source if sets is None else same_scores(*sets)


def _same_data(curve: EPC, row: int) -> str:
    if not _same(curve):
        return ""
    return "development and test set hold the same scores: nothing is a priori; give a separate test set"


def _in_both(curve: EPC, noun: str, shared: Callable[[Scores, Scores], int], size: int, so: str) -> str:
    """Say how many trials or users are in both sets, where these are not one and the same."""
    sets = _loaded(curve)
    number = 0 if sets is None or _same(curve) else shared(*sets)
    return f"{number:,} of {size:,} test {noun} are also development {noun}: {so}" if number else ""


def _shared_trials(curve: EPC, row: int) -> str:
    so = "the rates are too good; remove them from one set"
    return _in_both(curve, "trials", shared_trials, len(curve.test), so)


def _shared_users(curve: EPC, row: int) -> str:
    so = "the rates may be too good for new users"
    return _in_both(curve, "users", shared_users, curve.test.n_users, so)


def _repeated_in(scores: ScoreSet, name: str) -> str:
    if scores.scanned:
        return ""
    loaded = scores.load()
    if ids := repeated_ids(loaded):
        found = f"{ids:,} of {len(loaded):,} trials of {name} repeat an earlier trial id"
    elif (times := times_repeated(loaded)) > 1:
        found = f"every score of {name} occurs a multiple of {times} times"
    else:
        return ""
    return f"{found}: intervals are too narrow; keep one row per trial"


def _repeated_trials(curve: EPC, row: int) -> str:
    return "; ".join(filter(None, (_repeated_in(scores, name) for name, scores in _named_sets(curve).items())))


# -- direction and scale -------------------------------------------------------------------------------------


def _side(scores: ScoreSet) -> tuple[int, float]:
    """Return on which side of 0.5 the AUC clearly is (1, -1, or 0 for neither), and the AUC."""
    negatives, positives = scores.n_negatives, scores.n_positives
    auc = scores.pairs_in_order(rough=True) / (2 * negatives * positives)
    deviation = np.sqrt((negatives + positives + 1) / (12 * negatives * positives))
    return int(np.sign(auc - 0.5)) * int(abs(auc - 0.5) > CLEARLY * deviation), auc


def _reversed_in(scores: ScoreSet, where: str) -> str:
    side, auc = _side(scores)
    if side >= 0:
        return ""
    return (
        f"positives score lower than negatives{where} (AUC {auc:.3f}): use {argument('lower_is_better', 'True')}, or "
        "check the labels"
    )


def _reversed_scores(curve: EPC, row: int) -> str:
    # In both sets, or in the first while the second tells nothing: else the labels of one are flipped.
    return "" if _side(curve.test)[0] > 0 else _reversed_in(curve.dev, " in development")


def _flipped_labels(curve: EPC, row: int) -> str:
    (dev, dev_auc), (test, auc) = _side(curve.dev), _side(curve.test)
    if dev * test >= 0:
        return ""
    return (
        f"positives score {'higher' if dev > 0 else 'lower'} than negatives in development (AUC {dev_auc:.3f}), "
        f"{'higher' if test > 0 else 'lower'} in the test (AUC {auc:.3f}): check the labels"
    )


def _quartiles(ordered: Floats) -> tuple[float, float]:
    """Return the median and the distance between the quartiles."""
    low, median, high = (float(ordered[round(share * (ordered.size - 1))]) for share in (0.25, 0.5, 0.75))
    return median, high - low


def _different_scales(curve: EPC, row: int) -> str:
    sets = _loaded(curve)
    if sets is None or min(map(_smaller, sets)) < ENOUGH_TRIALS:
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
        found = "shifted by more than twice their spread"
    else:
        return ""
    return f"development and test scores are on different scales ({found}): check that one system made both"


def _smaller(scores: Scores) -> int:
    return min(scores.n_negatives, scores.n_positives)


def _trained_on(curve: EPC, row: int) -> str:
    dev, test = curve.dev_outcomes[row], curve.outcomes[row]
    expected = dev.negatives * test.fp / test.negatives + dev.positives * test.fn / test.positives
    if dev.fp + dev.fn or expected < EXPECTED_ERRORS:
        return ""
    return (
        f"no development error where the test set suggests {expected:.0f}: was the system trained on it? "
        "choose thresholds on unseen data"
    )


def _not_likelihood_ratios(curve: EPC, row: int) -> str:
    if curve.criterion.name != "bayes" or curve.dev.scanned:
        return ""
    from priori.decisions.likelihood_ratios import cllr

    dev = curve.dev.load()
    least, most = (
        edge(scores[end] for scores in (dev.negatives, dev.positives)) for edge, end in ((min, 0), (max, -1))
    )
    if least >= 0 or most <= 0:
        found = f"all are {'0 or above' if least >= 0 else '0 or below'}"
    elif (cost := cllr(dev)) >= 1:
        found = f"Cllr {cost:.3g} bits; no information is 1"
    else:
        return ""
    return f"scores do not look like log-likelihood ratios ({found}): use {argument('criterion', 'bayes:logistic')}"


def _separated_development(curve: EPC, row: int) -> str:
    if not curve.criterion.name.startswith("bayes:logistic"):
        return ""
    if curve.dev.scanned:
        errors = get_criterion("wer").choose(curve.dev, [Fraction(1, 2)]).outcomes
        apart = bool(errors.fp[0] == 0 and errors.fn[0] == 0)
    else:
        from priori.decisions.likelihood_ratios import separated

        apart = separated(curve.dev.load())
    if not apart:
        return ""
    return (
        "a threshold separates the development classes: the slope of the calibration depends only on the number of "
        "trials"
    )


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
        return rates, differ  # nor do they with people, who make rates vary more
    from priori.scores.influence import rate_spreads, welch

    shared = ("crossed" if _several(each) else "none" for each in trials)
    spreads = [
        rate_spreads(each, thresholds[differ], known, above=above) for each, known in zip(trials, shared, strict=True)
    ]
    variances = np.stack([spread.pseudo for spread in spreads]) / sizes
    deviation = np.sqrt((pooled * (1 - pooled))[differ] * variances.sum(axis=0))
    from scipy.special import ndtr, stdtrit

    freedom = welch(variances, [spread.freedom for spread in spreads], MANY)
    differ[differ] = apart[differ] > stdtrit(freedom, ndtr(DEVIATIONS)) * deviation
    return rates, differ


def _several(trials: Trials) -> bool:
    """Tell whether users are known, and are more than one."""
    return trials.user is not None and bool((trials.user != trials.user[0]).any())


def disagreements(curve: EPC, rows: Sequence[int]) -> list[str]:
    """Say for some alphas whether the threshold gives other errors on the test set than on the development set."""
    sets = _loaded(curve)
    if sets is None:
        return [""] * len(rows)
    thresholds = curve.threshold[rows]
    parts: list[list[str]] = [[] for _ in rows]
    for name, side in (("FAR", "negative"), ("FRR", "positive")):
        rates, differ = _apart([getattr(scores, side) for scores in sets], thresholds, above=name == "FAR")
        for at in np.flatnonzero(differ):
            dev, test = (f"{100 * rate:.3g}" for rate in rates[:, at])
            parts[at].append(f"{name} {dev} to {test} %")
    return [
        f"{', '.join(found)} from development to test (alpha {curve.alpha[row]:.4g}): more than chance; data in use "
        "may differ too"
        if found
        else ""
        for row, found in zip(rows, parts, strict=True)
    ]


def _disagreement(curve: EPC, row: int) -> str:
    return disagreements(curve, [row])[0]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _decides_nothing(outcomes: Outcomes) -> NDArray[np.bool_]:
    """Tell where nearly all trials of both classes are accepted, or rejected."""
    shares = np.array([outcomes.fp / outcomes.negatives, outcomes.tp / outcomes.positives])
    return np.asarray((shares <= NOTHING).all(axis=0) | (shares >= 1 - NOTHING).all(axis=0))


def _extreme_threshold(curve: EPC, row: int) -> str:
    rows = np.arange(curve.alpha.size) if curve.alpha.size <= FEW_ALPHAS else np.array([row])
    rows = rows[(curve.alpha[rows] > 0) & (curve.alpha[rows] < 1)]
    nothing = rows[_decides_nothing(curve.dev_outcomes[rows]) | _decides_nothing(curve.outcomes[rows])]
    if not nothing.size:
        return ""
    alphas = ", ".join(f"{alpha:.4g}" for alpha in curve.alpha[nothing])
    return (
        f"at alpha {alphas} the threshold accepts or rejects nearly everything: the scores do not help at that "
        "trade-off"
    )


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
    which = f"{found.sum()} of {alpha.size} limits" if found.sum() > 1 else f"the limit {alpha[found][0]:.4g}"
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
    start = "the limit is kept for users like those of the development set, "
    if (finite & (spread.follows > FOLLOWS)).any():
        return f"{start}and those who try more err more: it may lack heavier ones"
    if (few := finite & (users < FEW_LIMIT_USERS)).any():
        return f"{start}which count for {users[few].min():.0f}: so few do not show how much users differ"
    if (few := finite & (spread.erring > 0) & (spread.erring < FEW_LIMITED)).any():
        return f"{start}and {spread.erring[few].min():.1f} of them make the errors: the next user may err more"
    return ""


def _few_units(curve: EPC, row: int) -> str:
    """Say so where few users, or errors where users are not known, make the errors; or where users are few."""
    users = {name: 0 if each.scanned else each.n_users for name, each in _named_sets(curve).items()}
    few = [f"{number} user{'s' * (number != 1)} in {name}" for name, number in users.items() if 0 < number < FEW_USERS]
    if few:
        return f"{' and '.join(few)}: fewer than {FEW_USERS} hardly show how much users differ"
    outcomes, nouns = curve.outcomes[row], ("acceptance", "rejection")
    if curve.task.name != "authentication":
        nouns = ("positive", "negative")
    found = []
    for number, noun, above in zip((int(outcomes.fp), int(outcomes.fn)), nouns, (True, False), strict=True):
        if _erring(curve.test, float(curve.threshold[row]), number, above=above):
            found.append(f"{number:,} false {noun}{'s' * (number != 1)}" if number else f"no false {noun}")
    if not found:
        return ""
    of = "of few users" if curve.test.has_users else "only"
    return (
        f"at alpha = {curve.alpha[row]:.4g} the test set shows {' and '.join(found)}, {of}: the rate is easily off by "
        "half of itself; use more test trials, of more users"
    )


def _erring(test: ScoreSet, threshold: float, errors: int, *, above: bool) -> bool:
    """Tell whether errors come from few users, or are few where users are not known."""
    from priori.scores.influence import FEW_SHARE, FEW_UNITS, kish

    if test.scanned or not test.has_users or not errors:
        return errors < FEW_UNITS
    trials = test.load().negative if above else test.load().positive
    assert trials.user is not None
    wrong = (trials.score > threshold) == above
    number = None if trials.number is None else trials.number[wrong]
    erring = kish(np.bincount(trials.user[wrong], number))
    return bool(erring < min(FEW_UNITS, FEW_SHARE * test.n_users))


# -- what else the sets are like -----------------------------------------------------------------------------


def _largest_tie(ordered: Floats) -> float:
    """Return the share of the largest tie, if it is large enough to matter: then it is met by steps of that size."""
    met = ordered[:: max(1, int(TIED * ordered.size))]
    sizes = np.searchsorted(ordered, met, side="right") - np.searchsorted(ordered, met, side="left")
    largest = int(sizes.max())
    return largest / ordered.size if largest >= FEWEST_TIED else 0.0


def _ties(curve: EPC, row: int) -> str:
    sets = _loaded(curve) or ()
    share = max((_largest_tie(each) for scores in sets for each in (scores.negatives, scores.positives)), default=0.0)
    if share < TIED:
        return ""
    return (
        f"{_percent(share)} of a class have the same score: error rates change in large steps; keep more digits of the "
        "scores"
    )


def _prior_shift(curve: EPC, row: int) -> str:
    criterion = curve.criterion
    measures = [curve.measure, criterion.v1, criterion.v2]
    measures += [criterion.measure] if isinstance(criterion, Best) else []
    balance_matters = any("prevalence" in measure.depends_on for measure in measures)
    dev, test = (scores.n_negatives / scores.n_positives for scores in (curve.dev, curve.test))
    if not balance_matters or curve.measure.name in ("far", "frr") or max(dev / test, test / dev) < 1.5:
        return ""
    shares = [_percent(scores.n_positives / len(scores)) for scores in (curve.dev, curve.test)]
    return (
        f"{shares[0]} positives in development, {shares[1]} in the test: thresholds fit the former; use a measure that "
        "ignores the share"
    )


def _attacks_pooled(curve: EPC, row: int) -> str:
    sets = _loaded(curve)
    if sets is None or curve.omega is not None or not 0 < sets[1].n_attacks < sets[1].n_negatives:
        return ""
    number, others = sets[1].n_attacks, sets[1].n_negatives - sets[1].n_attacks
    return (
        f"{number:,} attacks and {others:,} impostors count as one class: the FAR depends on their numbers; "
        "use epsc, or leave attacks out"
    )


def _counted_in_bins(curve: EPC, row: int) -> str:
    sets = _loaded(curve)
    return "" if sets is None else "; ".join(dict.fromkeys(scores.counted for scores in sets if scores.counted))


#: Every check by the code of its caution.
CHECKS: dict[str, Find] = {
    "same-data": _same_data,
    "shared-trials": _shared_trials,
    "repeated-trials": _repeated_trials,
    "reversed-scores": _reversed_scores,
    "flipped-labels": _flipped_labels,
    "different-scales": _different_scales,
    "dev-looks-trained-on": _trained_on,
    "not-likelihood-ratios": _not_likelihood_ratios,
    "separated-development": _separated_development,
    "disagreement": _disagreement,
    "extreme-threshold": _extreme_threshold,
    "limit-not-kept": lambda c, row: _limit_not_kept(c.criterion, c.dev_outcomes, c.alpha, c.threshold),
    "limit-by-users": lambda c, row: _limit_by_users(c.criterion, c.dev, c.alpha, c.threshold),
    "few-units": _few_units,
    "ties": _ties,
    "prior-shift": _prior_shift,
    "attacks-pooled": _attacks_pooled,
    "shared-users": _shared_users,
    "counted-in-bins": _counted_in_bins,
}
