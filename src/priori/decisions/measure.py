"""A measure: a number computed from outcomes, what it depends on, and how to have it exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import OptionError
from priori.base.texts import alpha_text
from priori.base.types import Floats
from priori.decisions.outcomes import Outcomes


@dataclass(frozen=True)
class Measure:
    """A number computed from outcomes.

    Parameters
    ----------
    name, title : str
        What people type, and what a figure says.
    function : callable
        ``function(outcomes, alpha)`` gives the value; most measures ignore ``alpha``.
    greater_is_better : bool
        True for precision, accuracy, ...; False for error rates and costs.
    rate : bool
        Whether the value is shown as a percentage.
    exactly : callable, optional
        ``exactly(outcomes)`` of one threshold, in whole numbers: a number that orders as the value does, exactly.
    weight : Fraction, optional
        Where the value orders as ``weight FAR + (1 - weight) FRR`` does: that weight.
    """

    name: str
    title: str
    function: Callable[[Outcomes, Floats | float | None], Any]
    greater_is_better: bool = False
    rate: bool = True
    needs_alpha: bool = False
    exactly: Callable[[Outcomes], Fraction] | None = field(default=None, kw_only=True)
    weight: Fraction | None = field(default=None, kw_only=True)

    @property
    def worsens(self) -> bool:
        """Whether the value is known never to improve with one more error."""
        return self.exactly is not None or self.weight is not None

    def exact(self, outcomes: Outcomes) -> Any:
        """Return, of a single outcome, a number that orders as the value does: exactly, unless it is a user's own."""
        return float(self(outcomes)) if self.exactly is None else self.exactly(outcomes)

    def __call__(self, outcomes: Outcomes, alpha: ArrayLike | None = None) -> Floats:
        """Return the value at each threshold of ``outcomes``."""
        if self.needs_alpha and alpha is None:
            raise OptionError(f"the measure {self.name!r} needs an alpha, or a fixed weight such as 'wer:0.5'")
        alphas = None if alpha is None else np.asarray(alpha, dtype=np.float64)
        return np.asarray(self.function(outcomes, alphas), dtype=np.float64)

    def defined(self, alphas: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """Return the alphas at which no error makes the value infinite: net benefit has no value at alpha = 1."""
        if not self.needs_alpha:
            return alphas
        one = np.ones(len(alphas), dtype=np.int64)
        values = self(Outcomes(one, one, one, one), np.array(alphas, dtype=np.float64))
        return tuple(alpha for alpha, value in zip(alphas, values, strict=True) if np.isfinite(value))

    def check_alphas(self, alphas: tuple[Fraction, ...]) -> None:
        """Refuse alphas that somebody asked for, and at which the value is not defined."""
        if without := sorted({*alphas} - {*self.defined(alphas)}):
            raise OptionError(f"{self.title} has no value at alpha = {alpha_text(without[0])}; give another alpha")

    @cached_property
    def depends_on(self) -> frozenset[str]:
        """What the value depends on: the ``negatives``' error rate, the ``positives``', and their ``prevalence``.

        Tried out once on a few outcomes. A function that fails on them may depend on anything.
        """
        tp, fp, tn, fn = (np.array(counts, dtype=np.int64) for counts in ([70, 9], [23, 2], [177, 30], [11, 5]))
        changed = {
            "negatives": Outcomes(tp, fp + 1, tn - 1, fn),
            "positives": Outcomes(tp - 1, fp, tn, fn + 1),
            "prevalence": Outcomes(3 * tp, fp, tn, 3 * fn),
        }
        alpha = np.array([0.3, 0.6])
        try:
            before = self(Outcomes(tp, fp, tn, fn), alpha)
            moved = {name: ~np.isclose(self(after, alpha), before, rtol=1e-9) for name, after in changed.items()}
        except Exception:  # whatever a user's function raises
            return frozenset(changed)
        return frozenset(name for name, where in moved.items() if where.any())

    @classmethod
    def custom(
        cls,
        function: Callable[[Outcomes], Any],
        *,
        name: str | None = None,
        greater_is_better: bool = False,
        rate: bool = False,
    ) -> Measure:
        """Make a measure from a function of outcomes.

        Examples
        --------
        >>> from priori import Measure, Outcomes
        >>> errors = Measure.custom(lambda o: o.fp + 5 * o.fn, name="errors")
        >>> float(errors(Outcomes.from_errors(3, 1, negatives=10, positives=10)))
        8.0
        """
        label = name or str(getattr(function, "__name__", "custom"))
        return cls(label, label, lambda outcomes, alpha: function(outcomes), greater_is_better, rate)


def divide(numerator: Any, denominator: Any, worst: float) -> Floats:
    """Divide whole numbers once; an undefined ratio (0/0) takes its worst value."""
    top, bottom = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    return np.asarray(np.divide(top, bottom, out=np.full(np.broadcast(top, bottom).shape, worst), where=bottom != 0))


@dataclass(frozen=True)
class Ratio(Measure):
    """A measure that is one whole number over another, so that it can also be had exactly.

    ``of_class`` names the class whose trials alone decide it, if one does: its value is then monotone in the threshold.
    """

    numerator: Callable[[Outcomes], Any] = lambda outcomes: outcomes.fp
    denominator: Callable[[Outcomes], Any] = lambda outcomes: outcomes.negatives
    of_class: Literal["negative", "positive"] | None = None

    @property
    def worsens(self) -> bool:
        return True

    @property
    def worst(self) -> int:
        """The value of 0/0."""
        return 0 if self.greater_is_better else 1

    def as_error(self, value: Any) -> Any:
        """Return a value turned into an error, smaller being better, or an error turned into a value."""
        return 1 - value if self.greater_is_better else value

    def error(self, outcomes: Outcomes) -> Floats:
        """Return the value turned into an error: smaller is better."""
        return np.asarray(self.as_error(self(outcomes)))

    def exact(self, outcomes: Outcomes) -> Fraction:
        """Return the value of a single outcome as an exact fraction."""
        bottom = int(self.denominator(outcomes))
        return Fraction(int(self.numerator(outcomes)), bottom) if bottom else Fraction(self.worst)

    def exact_error(self, outcomes: Outcomes) -> Fraction:
        """Return the value turned into an error, as an exact fraction."""
        return Fraction(self.as_error(self.exact(outcomes)))


def of_both_classes(v1: Ratio, v2: Ratio) -> bool:
    """Return whether one rate is of the negatives alone and the other of the positives alone."""
    return {v1.of_class, v2.of_class} == {"negative", "positive"}
