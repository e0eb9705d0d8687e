"""Z-tests: confidence intervals of an HTER or DCF, and tests of two systems (thesis, sections 3.3 and 3.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.above import above
from priori.base.cautions import Caution
from priori.base.declarations import (
    NUMBER,
    TEXT,
    Cautions,
    Column,
    DeclaredTable,
    Flat,
    Level,
    Schema,
    Summary,
    Unsaved,
    maybe,
)
from priori.base.errors import InputError, OptionError, argument
from priori.base.quantiles import error_allowed
from priori.base.results import Result
from priori.base.types import Floats, Mask
from priori.curves.epc import EPC
from priori.decisions.measure import Measure
from priori.decisions.measures import FAR, FRR, get_measure
from priori.decisions.outcomes import Outcomes, count
from priori.decisions.recipe import Custom, NamedMeasure, custom
from priori.scores import ScoreSet
from priori.scores.pairing import Disagreements, disagreements
from priori.scores.score_set import as_score_set
from priori.uncertainty.rates.proportions import (
    NORMAL_RULE,
    Alternative,
    IntervalMethod,
    check_rate,
    p_values,
    proportion_interval,
    quantile,
    standardise,
)

AnyMeasure = str | Measure | Callable[[Outcomes], Any]

#: What each test but the aggregate's own is, by name: the equation of the thesis, and what to know about it. The last
#: two are for comparison: where they are narrower than the usual one, they are over-confident.
METHODS = {
    "dependent": ("3.33", "same trials"),
    "independent": ("3.32", "different trials, or only rates known"),
    "naive": ("3.35", "the aggregate is not a proportion"),
    "class": ("3.34", "it is about the classification error"),
}

#: The tests of which both have to find a difference, where trials are paired (thesis, end of section 3.3).
DECISIVE = ("dependent", "independent")

SYSTEM: Schema = {"type": "object", "properties": {"name": TEXT, "value": NUMBER}, "required": ["name", "value"]}
Systems = Annotated[dict[str, Any], Flat({"a": SYSTEM, "b": maybe(SYSTEM)})]
Rows = Annotated[
    dict[str, NDArray[Any]],
    DeclaredTable(
        {
            "text": "method equation remark",
            "number": "difference value sd lower upper width statistic p_value confidence",
        },
        optional="difference value statistic p_value confidence",
    ),
]


@dataclass(frozen=True, eq=False, repr=False)
class ZTest(Result):
    """Intervals of one system's HTER or DCF, or tests of the difference between two: one row per method.

    Made by `ztest` and `ztest_scores`.
    """

    measure: NamedMeasure
    confidence_level: Level
    alternative: Alternative
    a: Unsaved[ZSystem]
    b: Unsaved[ZSystem | None]
    comparison: Unsaved[dict[str, ZDifference] | None]
    warnings: Cautions

    @cached_property
    def systems(self) -> Summary[Systems]:
        """The rates of each system, with the intervals for single rates, and its aggregates."""
        return {name: system and self._described(system) for name, system in (("a", self.a), ("b", self.b))}

    @property
    def rate(self) -> Summary[bool]:
        """Whether the measure is shown as a percentage."""
        return self.measure.rate

    @property
    def custom(self) -> Summary[Custom]:
        """Whether the measure is the caller's own."""
        return custom(measure=self.measure)

    @cached_property
    def significant(self) -> Summary[bool | None]:
        """The verdict: significant only where the dependent and the independent test agree; None for one system."""
        return None if self.comparison is None else bool(significant(self.comparison, self.confidence_level))

    @property
    def aggregate(self) -> str:
        """The name under which the intervals of the measure itself are filed: hter, dcf, wer, far, ..."""
        name = self.measure.name.partition(":")[0]
        return "hter" if name in METHODS else name

    def _filed(self, system: ZSystem) -> dict[str, ZInterval]:
        names = {"hter": self.aggregate}
        return {names.get(name, name): interval for name, interval in system.intervals.items()}

    @cached_property
    def sentence(self) -> Summary[str]:
        """The result in words."""
        return above(self, "sentence")(self)

    @cached_property
    def rows(self) -> Column[Rows]:
        """One row per method: the intervals of one system, or the tests of two."""
        rows: dict[str, Any] = self._filed(self.a)
        names = {"value": "value", **{name: name for name in ("sd", "lower", "upper", "width")}}
        if self.comparison is not None:
            rows = dict(self.comparison)
            names = {"difference": names.pop("value"), **names}
            names |= {name: name for name in ("statistic", "p_value", "confidence")}
        numbers = {column: [float(getattr(row, name)) for row in rows.values()] for column, name in names.items()}
        own = ("3.31" if self.aggregate == "dcf" else "3.30", "the aggregate's own")
        equations, remarks = zip(*(METHODS.get(name, own) for name in rows), strict=True)
        usual = rows.get("independent", next(iter(rows.values())))
        remarks = tuple(
            f"over-confident: {remark}" if name in ("naive", "class") and row.sd < usual.sd else remark
            for (name, row), remark in zip(rows.items(), remarks, strict=True)
        )
        columns = {"method": list(rows), **numbers, "equation": equations, "remark": remarks}
        return {name: np.array(values) for name, values in columns.items()}

    def _described(self, system: ZSystem) -> dict[str, Any]:
        """Return a system's rates with the intervals for single rates, and its aggregates."""
        intervals = {name: [interval.lower, interval.upper] for name, interval in self._filed(system).items()}
        rates = _single_rates(system.rates, self.confidence_level)
        return {"name": system.name, "value": system.hter.value, **rates, "interval": intervals}


def _single_rates(rates: Rates, confidence_level: float) -> dict[str, dict[str, Any]]:
    """Return FAR and FRR, each with its normal, Wilson and exact interval."""
    described: dict[str, dict[str, Any]] = {}
    for name, rate, trials in (("far", rates.far, rates.negatives), ("frr", rates.frr, rates.positives)):
        errors = float(rate * trials)
        whole = round(errors) if abs(errors - round(errors)) < 1e-6 else errors
        described[name] = {"value": float(rate), "errors": whole, "trials": int(trials)}
        for method in get_args(IntervalMethod):
            interval = proportion_interval(errors, trials, method=method, confidence_level=confidence_level)
            described[name][method] = [float(interval.lower), float(interval.upper)]
    return described


# -- making one --------------------------------------------------------------------------------------------------


def ztest(
    far: float,
    frr: float,
    negatives: int,
    positives: int,
    *,
    far_b: float | None = None,
    frr_b: float | None = None,
    negatives_b: int | None = None,
    positives_b: int | None = None,
    measure: AnyMeasure = "hter",
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> ZTest:
    """Test published rates: the interval around an HTER (or DCF), and the difference to a second system's.

    Parameters
    ----------
    far, frr : float
        The error rates, as fractions.
    negatives, positives : int
        How many trials of each class they come from (NN and NP).
    far_b, frr_b, negatives_b, positives_b : optional
        The second system; its class sizes are the first's where they are not given.
    measure : str or Measure
        ``hter``, ``dcf:...``, ``wer:0.3``, ``far``, ... : anything that adds FAR and FRR.
    confidence_level : float
        0.95 by default.
    alternative : {"two-sided", "less", "greater"}
        Whether the first system's measure differs, is below, or is above the second's (Eq. 3.20 is "greater").
        For one system: an upper limit ("less") or a lower one ("greater").

    Notes
    -----
    Equations 3.30 to 3.35 of the thesis. From rates alone two systems can only be taken for independent (3.32);
    the dependent test (3.33) needs the scores: `ztest_scores`. NAIVE and CLASS are over-confident if one class is much
    larger. The trials are taken for independent; where users bring many trials each, use a user bootstrap.

    Examples
    --------
    >>> from priori import ztest
    >>> test = ztest(far=0.0115, frr=0.025, negatives=112_000, positives=400)
    >>> [f"{interval.width:.3%}" for interval in test.a.intervals.values()]  # Table 3.3
    ['1.531%', '0.157%', '0.125%']
    >>> test = ztest(0.0115, 0.025, 112_000, 400, far_b=0.0195, frr_b=0.0275)
    >>> test.significant, f"{test.comparison['independent'].sd:.4f}"  # Table 3.4
    (False, '0.0057')
    """
    setting = Setting.of(measure, None, confidence_level, alternative)
    a = _published(far, frr, negatives, positives)
    if far_b is None and frr_b is None:
        if negatives_b is not None or positives_b is not None:
            raise OptionError("negatives_b and positives_b are the second system's: give far_b and frr_b too")
        return _tested(measure, setting, [("A", a)], None)
    if far_b is None or frr_b is None:
        raise OptionError(f"a second system needs both rates: {argument('far_b')} and {argument('frr_b')}")
    sizes = negatives if negatives_b is None else negatives_b, positives if positives_b is None else positives_b
    b = _published(far_b, frr_b, *sizes, of="_b")
    return _tested(measure, setting, [("A", a), ("B", b)], None)


def ztest_scores(
    a: Any,
    threshold_a: float,
    b: Any = None,
    threshold_b: float | None = None,
    *,
    unpaired: bool = False,
    measure: AnyMeasure = "hter",
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] = ("A", "B"),
) -> ZTest:
    """Test scores at thresholds fixed in advance: one system's interval, or two systems' difference.

    Parameters
    ----------
    a, b : Scores
        Test scores; trials are paired by id, or by row where there are none (`priori.scores.pairing`).
    threshold_a, threshold_b : float
        The thresholds, chosen on other data (`priori.choose_threshold`).
    unpaired : bool
        The two test sets hold different trials: the independent test alone.
    measure, confidence_level, alternative
        As in `ztest`.

    Examples
    --------
    >>> import numpy as np
    >>> from priori import Scores, ztest_scores
    >>> rng = np.random.default_rng(0)
    >>> label = np.repeat([0, 1], 500)
    >>> a = Scores.from_predictions(label, rng.normal(3 * label))
    >>> b = Scores.from_predictions(label, rng.normal(2 * label))
    >>> ztest_scores(a, 1.5, b, 1.0).sentence
    'A and B differ significantly at 95 % (confidence: dependent more than 99.9 %, independent more than 99.9 %)'
    """
    setting = Setting.of(measure, None, confidence_level, alternative)
    a = as_score_set(a)
    systems = [(names[0], Rates.from_outcomes(count(a, threshold_a)))]
    if b is None:
        return _tested(measure, setting, systems, None, users_unused(a))._came_from(a)
    if threshold_b is None:
        raise OptionError("the second system needs its threshold (threshold_b)")
    b = as_score_set(b)
    systems.append((names[1], Rates.from_outcomes(count(b, threshold_b))))
    differing = None if unpaired else disagreements(a, b, threshold_a, threshold_b)
    return _tested(measure, setting, systems, differing, users_unused(a, b))._came_from(a, b)


def ztests_along(a: EPC, b: EPC, *, unpaired: bool = False) -> dict[str, ZDifference]:
    """Test the difference of two curves at every alpha, each on its own (thesis, Figure 3.11); see `priori.compare`."""
    setting = Setting.of(a.measure, a.alpha, 0.95, "two-sided")
    first, second = (Rates.from_outcomes(curve.outcomes) for curve in (a, b))
    differing = None if unpaired else disagreements(a.test, b.test, a.threshold, b.threshold)
    return differences(first, second, setting, differing)


def _tested(
    measure: AnyMeasure,
    setting: Setting,
    rates: list[tuple[str, Rates]],
    differing: Disagreements | None,
    cautions: tuple[Caution, ...] = (),
) -> ZTest:
    """Test one system or two; with the trials on which they disagree where these are the same."""
    level, alternative = setting.confidence_level, setting.alternative
    systems = [ZSystem.of(name, of_system, setting) for name, of_system in rates]
    warnings = [*cautions, *(line for system in systems for line in _doubts(system, level))]
    comparison = None
    if len(systems) == 2:
        comparison = differences(systems[0].rates, systems[1].rates, setting, differing)
        difference = float(comparison["independent"].value)
        if (alternative == "greater" and difference < 0) or (alternative == "less" and difference > 0):
            direction = "above" if alternative == "greater" else "below"
            text = f"the test asks whether A is {direction} B, but A - B is {difference:.4g}: it cannot be significant"
            warnings.append(Caution("wrong-direction", text))
    b = None if comparison is None else systems[1]
    return ZTest(get_measure(measure), level, alternative, systems[0], b, comparison, tuple(warnings))


def _published(far: float, frr: float, negatives: int, positives: int, of: str = "") -> Rates:
    for name, rate in (("far", far), ("frr", frr)):
        check_rate(name + of, rate)
    for name, trials in (("negatives", negatives), ("positives", positives)):
        if not (trials >= 1 and float(trials).is_integer()):
            raise InputError(f"{name}{of} = {trials:g} is not a number of trials; give a whole number from 1 up")
    return Rates.of(far, frr, negatives, positives)


def _doubts(system: ZSystem, confidence_level: float) -> list[Caution]:
    """Return a warning for each rate whose normal approximation is doubtful, with what to use instead."""
    lines = []
    for name, single in _single_rates(system.rates, confidence_level).items():
        rate, trials = single["value"], single["trials"]
        spread = trials * rate * (1 - rate)
        if spread >= NORMAL_RULE:
            continue
        exact, wilson = (f"{low:.3g} to {high:.3g}" for low, high in (single["exact"], single["wilson"]))
        text = (
            f"{system.name}: {name.upper()} {rate:g} of {trials} trials is too small for a z-test; use the exact "
            f"{100 * confidence_level:g} % bounds {exact} (Wilson {wilson})"
        )
        lines.append(Caution("normal-fits-badly", text))
    return lines


def users_unused(*sets: ScoreSet) -> tuple[Caution, ...]:
    """Return a caution where users are known: the z-tests take all trials for independent."""
    if not any(scores.has_users for scores in sets):
        return ()
    text = "z-tests ignore users, so confidence is too high; use compare, which resamples users"
    return (Caution("users-unused", text),)


# -- normals, from rates -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Weights:
    """A measure as ``constant + far FAR + frr FRR``; arrays where the weights follow alpha."""

    constant: Floats
    far: Floats
    frr: Floats

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The least and the greatest value that the measure can take."""
        lowest = self.constant + np.minimum(self.far, 0) + np.minimum(self.frr, 0)
        return lowest, self.constant + np.maximum(self.far, 0) + np.maximum(self.frr, 0)


def weights_of(measure: AnyMeasure = "hter", alpha: ArrayLike | None = None) -> Weights:
    """Return the weights with which a measure adds FAR and FRR, found by asking it about known rates.

    Raises
    ------
    OptionError
        When the measure is not such a sum (F1, precision, accuracy, ...): its normal distribution is another.

    Examples
    --------
    >>> weights = weights_of("dcf")  # NIST's costs: 0.99 FAR + 0.1 FRR, the weights of Eq. 3.31
    >>> float(weights.far), float(weights.frr)
    (0.99, 0.1)
    """
    chosen = get_measure(measure)

    def value(far: float, frr: float, negatives: int = 4, positives: int = 4) -> Floats:
        errors = round(far * negatives), round(frr * positives)
        return chosen(Outcomes.from_errors(*errors, negatives=negatives, positives=positives), alpha)

    constant = value(0, 0)
    weights = Weights(constant, value(1, 0) - constant, value(0, 1) - constant)
    for far, frr, *sizes in ((1.0, 1.0, 4, 4), (0.25, 0.75, 4, 4), (0.5, 0.25, 8, 4), (0.5, 0.5, 2, 6)):
        expected = weights.constant + far * weights.far + frr * weights.frr
        if not np.allclose(value(far, frr, *map(int, sizes)), expected, rtol=1e-9, atol=1e-12):
            raise OptionError(
                f"the z-tests are for measures that add FAR and FRR (hter, far, frr, wer, dcf, sensitivity, "
                f"balanced-accuracy, ...); {chosen.name!r} is not one: use a bootstrap"
            )
    return weights


@dataclass(frozen=True)
class Rates:
    """The two error rates of a system on one set, and the class sizes NN and NP; numbers or arrays."""

    far: Floats
    frr: Floats
    negatives: Floats
    positives: Floats

    @classmethod
    def of(cls, *numbers: ArrayLike) -> Rates:
        """Return the rates as numbers, in the order of the fields."""
        return cls(*(np.asarray(number, dtype=np.float64) for number in numbers))

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes) -> Rates:
        """Return the rates of counted outcomes."""
        return cls.of(FAR(outcomes), FRR(outcomes), outcomes.negatives, outcomes.positives)


class Normal(NamedTuple):
    """A normal distribution, and between which numbers its value lies."""

    value: Floats
    variance: Floats
    lowest: Any
    highest: Any


def normals(rates: Rates, weights: Weights) -> dict[str, Normal]:
    """Return what each distribution makes of the rates; the last two are for comparison.

    ``hter`` is about the aggregate of FAR and FRR (Eq. 3.30 for HTER, 3.31 for DCF). ``naive`` (3.35) takes that, over
    the sum of the weights, for a proportion; ``class`` (3.34) is about (FP + FN) / (NN + NP), of any weights.
    """
    far, frr, trials = rates.far, rates.frr, rates.negatives + rates.positives
    of_far, of_frr = weights.far**2 * far * (1 - far), weights.frr**2 * frr * (1 - frr)
    error, whole = weights.far * far + weights.frr * frr, weights.far + weights.frr
    wrong = (far * rates.negatives + frr * rates.positives) / trials
    value = weights.constant + weights.far * far + weights.frr * frr
    # Rounding must not leave a variance below nothing.
    return {
        "hter": Normal(value, of_far / rates.negatives + of_frr / rates.positives, *weights.range),
        "naive": Normal(value, np.maximum(error * (whole - error), 0) / trials, *weights.range),
        "class": Normal(wrong, np.maximum(wrong * (1 - wrong), 0) / trials, 0.0, 1.0),
    }


# -- intervals and tests from them -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ZInterval:
    """A normal distribution around one value and its interval; numbers, or arrays along alpha."""

    value: Floats
    sd: Floats
    lower: Floats
    upper: Floats

    @property
    def width(self) -> Floats:
        """The whole interval, upper minus lower (Tables 3.3 and 3.6)."""
        return self.upper - self.lower


@dataclass(frozen=True)
class ZDifference(ZInterval):
    """The same for a difference, A minus B, with its test against no difference.

    ``confidence`` is the thesis's delta (Eqs. 3.20, 3.21, 3.25): 1 minus the p-value.
    """

    statistic: Floats
    p_value: Floats

    @cached_property
    def confidence(self) -> Floats:
        """The confidence that the two systems differ (Tables 3.4 and 3.7)."""
        return 1 - self.p_value


@dataclass(frozen=True)
class Setting:
    """What is asked of every test: the measure's weights, the level, the direction."""

    weights: Weights
    confidence_level: float
    alternative: Alternative

    @classmethod
    def of(cls, measure: AnyMeasure, alpha: ArrayLike | None, level: float, alternative: Alternative) -> Setting:
        """Check what was asked."""
        quantile(level, alternative)  # raises the error for a bad level or direction
        return cls(weights_of(measure, alpha), level, alternative)

    def interval(self, normal: Normal) -> ZInterval:
        """Return the interval around a value; one-sided, its open end is the least or greatest value there is."""
        centre, sd = np.asarray(normal.value, dtype=np.float64), np.sqrt(np.asarray(normal.variance, dtype=np.float64))
        half = quantile(self.confidence_level, self.alternative) * sd
        lower = np.broadcast_to(normal.lowest, centre.shape) if self.alternative == "less" else centre - half
        upper = np.broadcast_to(normal.highest, centre.shape) if self.alternative == "greater" else centre + half
        return ZInterval(centre, sd, np.asarray(lower), np.asarray(upper))

    def difference(self, a: Normal, b: Normal, variance: Floats | None = None) -> ZDifference:
        """Return the interval and the test of a difference; variances add up (Eq. 3.32), unless it is known."""
        widest = np.asarray(a.highest - a.lowest)
        variance = a.variance + b.variance if variance is None else variance
        around = self.interval(Normal(a.value - b.value, variance, -widest, widest))
        z = standardise(around.value, around.sd)
        return ZDifference(**vars(around), statistic=z, p_value=p_values(z, self.alternative))


@dataclass(frozen=True)
class ZSystem:
    """One system: its rates, and the intervals that the three distributions give (`normals`), by name."""

    name: str
    rates: Rates
    intervals: dict[str, ZInterval]

    @classmethod
    def of(cls, name: str, rates: Rates, setting: Setting) -> ZSystem:
        """Compute the three intervals."""
        found = normals(rates, setting.weights)
        return cls(name, rates, {name: setting.interval(normal) for name, normal in found.items()})

    @property
    def hter(self) -> ZInterval:
        """The interval of the measure itself."""
        return self.intervals["hter"]


def differences(a: Rates, b: Rates, setting: Setting, disagreements: Disagreements | None) -> dict[str, ZDifference]:
    """Return the tests of the difference between two systems by name, the ones to trust first.

    With the disagreements, where the trials are the same, one of them is ``dependent`` (Eq. 3.33): its variance rests
    on the trials that only one of the two systems gets wrong, and is that under equal rates.
    """
    weights, tests = setting.weights, dict[str, ZDifference]()
    first, second = normals(a, weights), normals(b, weights)
    if disagreements is not None:
        far = (disagreements.negatives_ab + disagreements.negatives_ba) / a.negatives
        frr = (disagreements.positives_ab + disagreements.positives_ba) / a.positives
        variance = np.asarray(weights.far**2 * far / a.negatives + weights.frr**2 * frr / a.positives)
        tests["dependent"] = setting.difference(first["hter"], second["hter"], variance)
    names = {"independent": "hter", "naive": "naive", "class": "class"}
    return tests | {name: setting.difference(first[own], second[own]) for name, own in names.items()}


def significant(tests: dict[str, ZDifference], confidence_level: float) -> Mask:
    """Return whether the tests that decide both find a difference."""
    found = [tests[name].p_value < error_allowed(confidence_level) for name in DECISIVE if name in tests]
    return np.asarray(np.logical_and.reduce(found))
