"""Settings: what a report is asked to compute, checked once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, get_args

from priori.base.alphas import as_fraction, grid
from priori.base.errors import OptionError, unknown
from priori.base.options import Interval, Resample
from priori.decisions.criteria import Criterion, get_criterion
from priori.decisions.measure import Measure
from priori.decisions.measures import get_measure
from priori.decisions.recipe import price
from priori.decisions.tasks import Task, get_task
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.claims import Claim

#: More alphas than this cannot be told apart on a page, and would make it heavy.
MOST_POINTS = 1001


@dataclass(frozen=True)
class Settings:
    """What to compute for a report.

    Attributes
    ----------
    task, criterion, measure
        As in `priori.epc`; None is the task's own.
    points : int
        How many alphas, from 0 to 1; the slider stops at each.
    alpha : number or text
        The alpha of interest: where the slider begins, and what the verdict is about. 0.1 means one tenth; None is
        that of the costs, or a half; a limit or a target has to be given.
    costs, prior
        What errors cost, and the share of positives, as in `priori.epc`.
    bootstrap : str or None
        ``auto`` (the data choose), the name of a bootstrap, or None for no intervals at all.
    n_resamples, resample, confidence_level, interval, simultaneous, shared_users
        As in `priori.EPC.band`.
    seed, threads
        The seed of the random numbers, and how many threads to use; results do not depend on the threads.
    claim : {"method", "deployed"}
        What differences between systems are about, as in `priori.compare`.
    unpaired : bool
        The systems were tested on different trials: compare them as independent.
    fp, currency
        Where errors cost the amounts of their trials: what a false positive costs, as in `priori.amounts`, and the
        currency; None leaves amounts out.
    title : str
        The heading of the page; empty for one made from the systems' names.
    """

    task: str = "authentication"
    criterion: str | None = None
    measure: str | None = None
    points: int = 101
    alpha: Any = None
    bootstrap: str | None = "auto"
    n_resamples: int | tuple[int, int] = 10_000
    resample: Resample = "test"
    confidence_level: float = 0.95
    interval: Interval | None = None
    simultaneous: bool = False
    shared_users: bool | None = None
    threads: int | None = None
    claim: Claim = "method"
    unpaired: bool = False
    seed: int = 0
    title: str = ""
    costs: Any = None
    prior: Any = None
    fp: Any = None
    currency: str = ""

    def __post_init__(self) -> None:
        measure, alpha = price(self.domain, self.criterion, self.measure, self.alpha, self.costs, self.prior)
        object.__setattr__(self, "measure", measure.name if isinstance(measure, Measure) else measure)
        object.__setattr__(self, "alpha", as_fraction(self.rule.alpha_or_half(alpha)))
        object.__setattr__(self, "costs", None)  # settled in the measure and the alpha
        object.__setattr__(self, "prior", None)
        if self.bootstrap not in (None, "auto", *BOOTSTRAPS):
            raise unknown("bootstrap", self.bootstrap, ["auto", *BOOTSTRAPS, "none"])
        if self.claim not in get_args(Claim):
            raise unknown("claim", self.claim, get_args(Claim))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**63:
            raise OptionError(f"the seed must be a whole number from 0 up, not {self.seed!r}")
        for value in (self.domain, self.rule, self.shown, self.resampling):  # each raises an error for an unknown name
            assert value is not None
        if isinstance(self.points, bool) or not isinstance(self.points, int) or not 2 <= self.points <= MOST_POINTS:
            raise OptionError(f"a report has from 2 to {MOST_POINTS} alphas, not {self.points}")
        self.shown.check_alphas((self.alpha,))

    @property
    def resampling(self) -> Resampling:
        """How bands are resampled."""
        own = {field.name: getattr(self, field.name) for field in fields(Resampling) if field.name != "rng"}
        return Resampling(**{**own, "bootstrap": None if self.bootstrap == "auto" else self.bootstrap}, rng=self.seed)

    @property
    def testing(self) -> Resampling:
        """How differences are tested: by the usual interval."""
        return replace(self.resampling, interval=None)

    @property
    def domain(self) -> Task:
        """The task itself."""
        return get_task(self.task)

    @property
    def rule(self) -> Criterion:
        """The criterion itself."""
        return get_criterion(self.criterion, self.domain)

    @property
    def shown(self) -> Measure:
        """The measure itself."""
        return get_measure(self.domain.aggregate if self.measure is None else self.measure)

    @property
    def alphas(self) -> tuple[Fraction, ...]:
        """The alphas of every curve: a grid from 0 to 1 as far as the measure has values, and the alpha of interest."""
        return self.shown.defined(tuple(sorted({*grid(self.points), self.alpha})))

    def to_dict(self) -> dict[str, Any]:
        """Return every setting, with what was left open filled in."""
        names = "bootstrap n_resamples resample confidence_level simultaneous claim unpaired seed"
        return {
            "title": self.title,
            "task": self.domain.name,
            "criterion": self.rule.name,
            "measure": self.shown.name,
            "points": self.points,
            "alpha": float(self.alpha),
            **{name: getattr(self, name) for name in names.split()},
        }
