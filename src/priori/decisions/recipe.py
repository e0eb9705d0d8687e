"""How curves are made, settled: task, criterion, measure and alphas, with what presets and costs imply.

Files hold tasks, criteria and measures by name, with a mark on those that are the caller's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, Literal

from priori.base.alphas import as_fractions, check_bounds, from_costs, grid, share
from priori.base.declarations import TEXT, Kept
from priori.base.errors import OptionError, PrioriError, argument, short
from priori.base.options import Weight
from priori.decisions.criteria import Criterion, get_criterion
from priori.decisions.measure import Measure
from priori.decisions.measures import at_prior, cost, get_measure
from priori.decisions.outcomes import Outcomes
from priori.decisions.tasks import Task, get_task
from priori.scores.score_set import as_score_set

#: What chooses thresholds, and what is shown of them, as people may give it.
AnyCriterion = str | Criterion | Measure | Callable[[Outcomes, float], Any] | None
AnyMeasure = str | Measure | Callable[[Outcomes], Any] | None


def _name(thing: Any) -> str:
    return str(thing.name)


#: A task, a criterion and a measure of a result, which its file holds by name.
NamedTask = Annotated[Task, Kept(TEXT, _name)]
NamedCriterion = Annotated[Criterion, Kept(TEXT, _name)]
NamedMeasure = Annotated[Measure, Kept(TEXT, _name)]
#: The names of those that are the caller's own.
Custom = tuple[Literal["task", "criterion", "measure"], ...]


def custom(task: Task | None = None, criterion: Criterion | None = None, measure: Measure | None = None) -> Custom:
    """Return which of these are the caller's own, so that their names alone do not define them."""

    def is_ours(thing: Any, get: Callable[[str], Any]) -> bool:
        try:
            return bool(get(thing.name) == thing)
        except PrioriError:
            return False

    named: tuple[tuple[Any, Any, Callable[[str], Any]], ...] = (
        ("task", task, get_task),
        ("criterion", criterion, partial(get_criterion, task=task or "authentication")),
        ("measure", measure, get_measure),
    )
    return tuple(kind for kind, thing, get in named if thing is not None and not is_ours(thing, get))


#: How costs are typed.
SHAPE = "write fn=100,fp=1: what a false negative and a false positive cost"


def price(task: str | Task, criterion: Any, measure: Any, alpha: Any, costs: Any, prior: Any) -> tuple[Any, Any]:
    """Return the measure to show and the alphas to choose by, as costs and a prior ask for. None is the default.

    Costs are shown per decision where no measure is named, and give alpha where none is given and the criterion is
    ``wer``. Without costs, the prior is the share of positives at which the measure is shown.
    """
    if costs is None and prior is None:
        return measure, alpha
    shown = None if measure is None else get_measure(measure)
    if costs is None:
        return at_prior(shown or get_task(task).aggregate, prior), alpha
    if prior is None:
        raise OptionError(
            f"costs need the share of positives where the system will be used: add {argument('prior')}, such as 0.01"
        )
    miss, alarm = pair_of_costs(costs)
    if alpha is None and get_criterion(criterion, task).name == "wer":
        alpha = from_costs(miss, alarm, prior)
    if shown is None:
        shown = cost(float(miss), float(alarm), float(share(prior)))
    return shifted(shown, prior), alpha


def shifted(measure: Measure, prior: Any) -> Measure:
    """Return a measure at a share of positives, if it depends on it."""
    return at_prior(measure, prior) if "prevalence" in measure.depends_on else measure


def pair_of_costs(costs: Any) -> tuple[str, str]:
    """Read the cost of a false negative and of a false positive: ``fn=100,fp=1``, a mapping, or the two numbers."""
    if isinstance(costs, str):
        pairs = [(name.strip(), value) for name, _, value in (part.partition("=") for part in costs.split(","))]
        if len(pairs) != 2:
            raise OptionError(f"costs: {SHAPE}, not {short(costs)}")
        costs = dict(pairs)
    if isinstance(costs, Mapping):
        if set(costs) != {"fn", "fp"}:
            raise OptionError(f"costs: {SHAPE}, not {short(str(dict(costs)))}")
        costs = costs["fn"], costs["fp"]
    try:
        miss, alarm = (str(value).strip() for value in costs)
        float(miss), float(alarm)
    except (TypeError, ValueError):
        raise OptionError(f"costs: {SHAPE}, not {short(str(costs))}") from None
    return miss, alarm


@dataclass(frozen=True)
class Recipe:
    """How curves are made, settled: every option of `epc` is one of these, or determines one."""

    task: Task
    criterion: Criterion
    measure: Measure
    fractions: tuple[Fraction, ...]
    exact: bool = False
    bounds: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))
    weight: Weight = "trial"

    @classmethod
    def of(
        cls,
        task: str | Task = "authentication",
        criterion: AnyCriterion = None,
        measure: AnyMeasure = None,
        points: int = 101,
        bounds: tuple[Any, Any] = (0, 1),
        alpha: Any = None,
        costs: Any = None,
        prior: Any = None,
        exact: bool = False,
        preset: str | None = None,
        weight: Weight = "trial",
    ) -> Recipe:
        """Settle the options of `epc`."""
        if preset is not None:
            from priori.decisions.presets import get_preset  # rarely used

            fixed = get_preset(preset)
            criterion, measure = fixed.criterion, measure or fixed.measure
            alpha = fixed.alpha if alpha is None else alpha
        domain = get_task(task)
        measure, priced = price(domain, criterion, measure, alpha, costs, prior)
        shown = get_measure(domain.aggregate if measure is None else measure)
        if exact and alpha is not None:
            raise OptionError("an exact curve has every alpha; leave out either exact or alpha")
        if exact and weight != "trial":
            raise OptionError("an exact curve weighs trials alike; give points or alphas to weigh users alike")
        made = cls(
            domain,
            get_criterion(criterion, domain),
            shown,
            () if exact or priced is not None else shown.defined(grid(points, bounds)),
            exact,
            check_bounds(bounds),
            weight,
        )
        return made if exact or priced is None else made.at(priced)

    def at(self, alpha: Any) -> Recipe:
        """Return the recipe of curves at these alphas: one, or a list."""
        fractions = as_fractions(alpha)
        self.measure.check_alphas(fractions)
        return replace(self, fractions=fractions, exact=False, bounds=(min(fractions), max(fractions)))


def choose_threshold(
    dev: Any,
    *,
    criterion: AnyCriterion = None,
    alpha: Any = None,
    costs: Any = None,
    prior: Any = None,
    task: str | Task = "authentication",
) -> float:
    """Choose the threshold on development scores: the minimiser of the criterion at one alpha, by default 0.5.

    A limit or a target (``at-most-far``, ``target-far``) is no default: it has to be given.

    ``dev`` is what `epc` takes: Scores, a Table, or a frame; so are ``costs`` with their ``prior``.

    Examples
    --------
    >>> from priori import Scores, choose_threshold
    >>> dev = Scores.from_arrays(negatives=[0.1, 0.2, 0.6], positives=[0.4, 0.7, 0.9])
    >>> choose_threshold(dev, alpha=0.5)
    0.30000000000000004
    >>> choose_threshold(dev, criterion="at-most-far", alpha=0.1)
    0.6499999999999999
    """
    rule, (_, alpha) = get_criterion(criterion, task), price(get_task(task), criterion, None, alpha, costs, prior)
    (fraction,) = as_fractions(rule.alpha_or_half(alpha))
    return float(rule.choose(as_score_set(dev), [fraction]).threshold[0])
