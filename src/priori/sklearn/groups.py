"""Error rates by group as a scikit-learn display, at a threshold that was fixed on development data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from priori.base.cautions import joined
from priori.curves.epc import epc
from priori.decisions.criteria import get_criterion
from priori.decisions.tasks import Task
from priori.sklearn.displays import CriterionOption
from priori.sklearn.responses import ResponseMethod, as_predictions, scores, with_options_of
from priori.uncertainty.rates.group_rates import GroupRates, group_rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class GroupRatesDisplay:
    """False positive and false negative rates of groups of people, thresholds chosen on other data.

    Make one with `from_estimator` or `from_predictions`. ``sensitive_features`` is fairlearn's name for the groups.

    Attributes
    ----------
    rates_ : GroupRates
        The rates with simultaneous intervals, and the largest gap and ratios between groups with theirs.
    warnings_ : tuple of str
        Warnings about it; noted below the axes.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import numpy as np
    >>> from priori.sklearn import GroupRatesDisplay
    >>> rng = np.random.default_rng(0)
    >>> y, sex = rng.integers(0, 2, 2000), rng.choice(["f", "m"], 2000)
    >>> score = rng.normal(y - 0.5 * (sex == "m"))
    >>> display = GroupRatesDisplay.from_predictions(
    ...     y[1000:], score[1000:], sensitive_features=sex[1000:], y_true_dev=y[:1000], y_score_dev=score[:1000])
    >>> gap = display.rates_.rows("frr", "gap")
    >>> f"FRR of {gap['group'][0]} minus {gap['other'][0]}: {gap['value'][0]:.2f}, at least {gap['lower'][0]:.2f}"
    'FRR of m minus f: 0.14, at least 0.08'
    """

    rates_: GroupRates
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @property
    def warnings_(self) -> tuple[str, ...]:
        """Warnings about the rates."""
        return self.rates_.warnings

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the rates of the groups with their intervals."""
        self.ax_ = self.rates_.plot(ax)
        self.figure_ = self.ax_.figure
        return self

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        y_true_dev: ArrayLike,
        y_score_dev: ArrayLike,
        users: ArrayLike | None = None,
        pos_label: Any = None,
        name: str = "group",
        ax: Axes | None = None,
        task: str | Task = "authentication",
        criterion: CriterionOption = None,
        alpha: Any = None,
        confidence_level: float = 0.95,
    ) -> Self:
        """Make the display of labels and scores.

        Parameters
        ----------
        y_true, y_score : array-like
            Labels and scores of the test set.
        sensitive_features : array-like
            The group of each test sample.
        y_true_dev, y_score_dev : array-like
            Labels and scores of the development set, on which the threshold is chosen.
        users : array-like, optional
            Whom each test sample is of, where people have several: intervals then allow for it.
        pos_label, name
            The positive class; what the groups are of, for the figure.
        task, criterion, alpha
            What the threshold minimises, as in `priori.choose_threshold`.
        confidence_level : float
            That of all groups' intervals of one rate together.
        """
        return cls._of(locals(), ())

    @classmethod
    def _of(cls, given: Mapping[str, Any], trained: tuple[str, ...]) -> Self:
        dev = scores(given["y_true_dev"], given["y_score_dev"], pos_label=given["pos_label"], name="dev")
        people = {"user": given["users"], "group": given["sensitive_features"]}
        test = scores(given["y_true"], given["y_score"], pos_label=given["pos_label"], name="test", **people)
        alpha = get_criterion(given["criterion"], given["task"]).alpha_or_half(given["alpha"])
        curve = epc(dev, test, criterion=given["criterion"], alpha=alpha, task=given["task"])
        rates = group_rates(
            test, float(curve.threshold[0]), by=given["name"], confidence_level=given["confidence_level"]
        )
        looks = tuple(line for line in curve.warnings if getattr(line, "code", "") == "dev-looks-trained-on")
        cautions = joined(trained or looks, rates.warnings)
        return cls(rates_=replace(rates, warnings=cautions)).plot(given["ax"])

    @classmethod
    @with_options_of(from_predictions, without=("y_true_dev", "y_score_dev"))
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: ArrayLike,
        X_dev: Any,
        y_dev: Any,
        response_method: ResponseMethod = "auto",
        **options: Any,
    ) -> Self:
        """Make the display of a fitted classifier; neither X nor X_dev may have been used to fit it.

        The parameters are those of `from_predictions`, with data instead of labels and scores.
        """
        return cls._of(*as_predictions(locals()))
