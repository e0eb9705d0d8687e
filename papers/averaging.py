"""On averaging ROC curves, redone: Figure 1 (three averages of two data sets) and Figure 2 (three classifiers)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import priori
from papers.figures import canvas
from papers.results import Conclusion, Figure, Progress, Reproduction, Table, silent
from priori.base.types import Floats
from priori.curves.averaging import AverageCurve, average
from priori.decisions.outcomes import count
from priori.plots.style import COLOURS
from priori.scores import Scores
from priori.scores.derived import pool
from validation.coverage.simulation import generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["CLASSIFIERS", "reproduce", "scenario"]


CLASSIFIERS = ("C-1", "C-2a", "C-2b")
#: Distance of the class means; the paper does not give it. The scores' standard deviation is 1 on average.
SEPARATION = 2.5
#: Other distances, to see what rests on that choice.
SEPARATIONS = (1.5, 2.0, 2.5, 3.0)
#: Where average curves are compared.
GRID = np.linspace(0, 1, 101)
#: The false positive rate of the well separable data set at the fixed threshold of Figure 1a.
FIXED_FPR = 0.12


def reproduce(*, quick: bool = False, progress: Progress = silent) -> Reproduction:
    """Redo both figures; the conclusions of Figure 2 rest on repeated simulations."""
    repeats, data_sets, positions = (4, 40, 101) if quick else (50, 100, 101)
    two = two_data_sets()
    first = {name: both(name, data_sets, positions, 0) for name in CLASSIFIERS}
    heights = np.empty((repeats, len(CLASSIFIERS), 2, GRID.size))
    for repeat in range(repeats):
        for index, name in enumerate(CLASSIFIERS):
            curves = first[name] if repeat == 0 else both(name, data_sets, positions, repeat)
            heights[repeat, index] = [height(curve) for curve in curves]
        progress(repeat + 1, repeats)
    return Reproduction(
        name="averaging",
        title="On averaging ROC curves",
        paper="J. Hogan and N. M. Adams, On Averaging ROC Curves, TMLR 2023",
        data="Simulated as the paper describes, with the parameters that it leaves open chosen by us: beta scores for "
        f"Figure 1; for Figure 2 class means {SEPARATION} apart and standard deviations of 1 on average, {data_sets} "
        f"data sets of 100 scores a class, and {repeats} repetitions. That the threshold averages of C-1 and C-2b are "
        "about equal (scenario 2) rests on this distance: the last table has others.",
        conclusions=(*_figure_1_conclusions(two), *_figure_2_conclusions(heights)),
        tables=(_figure_1_table(two), _figure_2_table(heights), _distance_table(data_sets, positions, repeats)),
        figures=_figures(two, first),
        quick=quick,
    )


# -- Figure 1 --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Two:
    """The two data sets of Figure 1, their averages, and the threshold that is fixed."""

    well: Scores
    poor: Scores
    averages: dict[str, AverageCurve]
    threshold: float

    def rates(self, scores: Scores, threshold: float | None = None) -> tuple[float, float]:
        """Return (fpr, tpr) at the fixed threshold, or at another."""
        found = count(scores, self.threshold if threshold is None else threshold)
        return float(found.fp / found.negatives), float(found.tp / found.positives)


def two_data_sets() -> Two:
    """Simulate a well separable data set of 150 scores a class, and a poorly separable one of 75."""
    draw = generator((1, 2024))
    well = Scores.from_arrays(draw.beta(2, 5, 150), draw.beta(5, 2, 150), source="well separable")
    poor = Scores.from_arrays(draw.beta(3.5, 4, 75), draw.beta(4, 3.5, 75), source="poorly separable")
    parts = {"well separable": well, "poorly separable": poor}
    averages = {
        method: average(parts, method=method, positions="exact") for method in ("pooled", "vertical", "threshold")
    }
    return Two(well, poor, averages, _threshold_at(well, FIXED_FPR))


def _threshold_at(scores: Scores, fpr: float) -> float:
    return priori.choose_threshold(scores, criterion="target-v1", alpha=fpr)


def _figure_1_conclusions(two: Two) -> list[Conclusion]:
    pooled = two.rates(pool([two.well, two.poor]))
    each = [two.rates(scores) for scores in (two.well, two.poor)]
    mean = tuple(float(np.mean(rate)) for rate in zip(*each, strict=True))
    nearer = np.hypot(*np.subtract(pooled, each[0])) < np.hypot(*np.subtract(mean, each[0]))
    other = _threshold_at(two.poor, each[0][0])
    equal = _equal_sizes_gap()
    return [
        Conclusion(
            "Section 3.3: with more scores in the well separable set, pooling is drawn towards its curve",
            bool(nearer and two.averages["pooled"].area > two.averages["threshold"].area),
            f"at the fixed threshold pooled rates are ({pooled[0]:.3f}, {pooled[1]:.3f}), averaged ones "
            f"({mean[0]:.3f}, {mean[1]:.3f}); areas {two.averages['pooled'].area:.3f} and "
            f"{two.averages['threshold'].area:.3f}",
        ),
        Conclusion(
            "Section 3.3: with equal class sizes, the threshold average and the pooled curve are identical",
            equal == 0,
            f"largest difference: {equal:g}",
        ),
        Conclusion(
            "Section 3.2: the threshold that yields a false positive rate differs between the data sets",
            abs(other - two.threshold) > 0.02,
            f"fpr {each[0][0]:.2f} needs {two.threshold:.3f} on the one, {other:.3f} on the other",
        ),
    ]


def _equal_sizes_gap() -> float:
    draw = generator((2, 2024))
    parts = [Scores.from_arrays(draw.beta(2, 5, 60), draw.beta(5 - k, 2 + k, 60)) for k in (0, 1)]
    pooled, averaged = (average(parts, method=method, positions="exact") for method in ("pooled", "threshold"))
    gaps = (np.abs(pooled.fpr - averaged.fpr).max(), np.abs(pooled.tpr - averaged.tpr).max())
    return float(max(gaps))


def _figure_1_table(two: Two) -> Table:
    rows = [("well separable", *two.rates(two.well), priori.a_posteriori_auc(two.well))]
    rows.append(("poorly separable", *two.rates(two.poor), priori.a_posteriori_auc(two.poor)))
    mean = np.mean([row[1:3] for row in rows], axis=0)
    rows.append(("pooled", *two.rates(pool([two.well, two.poor])), two.averages["pooled"].area))
    rows.append(("threshold average", float(mean[0]), float(mean[1]), two.averages["threshold"].area))
    at = two.rates(two.well)[0]
    vertical = float(np.mean([two.rates(two.well)[1], two.rates(two.poor, _threshold_at(two.poor, at))[1]]))
    rows.append(("vertical average (each its own threshold)", at, vertical, two.averages["vertical"].area))
    return Table("Figure 1: at the fixed threshold", ("", "fpr", "tpr", "area"), tuple(rows), digits=3)


# -- Figure 2 --------------------------------------------------------------------------------------------------------


def scenario(
    classifier: str, data_sets: int = 100, *, seed: int = 0, per_class: int = 100, separation: float = SEPARATION
) -> list[Scores]:
    """Simulate a classifier of section 5: C-1; C-2a, both classes shifted; C-2b, shifted unequally.

    The parameters of a data set and its shift are the same for all three classifiers; the scores are drawn anew.
    """
    draw = generator((seed, 5))
    negative_mean, positive_mean = draw.normal([[0.0], [separation]], 0.25, (2, data_sets))
    negative_sd, positive_sd = draw.uniform(0.8, 1.2, (2, data_sets))
    noise = draw.standard_normal(data_sets)
    shifts = {"C-1": (0 * noise, 0 * noise), "C-2a": (noise, noise), "C-2b": (noise, np.abs(noise))}[classifier]
    own = generator((seed, 6, CLASSIFIERS.index(classifier)))
    return [
        Scores.from_arrays(
            own.normal(negative_mean[i] + shifts[0][i], negative_sd[i], per_class),
            own.normal(positive_mean[i] + shifts[1][i], positive_sd[i], per_class),
        )
        for i in range(data_sets)
    ]


def both(
    classifier: str, data_sets: int, positions: int, seed: int, separation: float = SEPARATION
) -> tuple[AverageCurve, AverageCurve]:
    """Return the vertical and the threshold average of a classifier's curves."""
    parts = scenario(classifier, data_sets, seed=seed, separation=separation)
    vertical, threshold = (
        average(parts, method=method, positions=positions, interval="normal") for method in ("vertical", "threshold")
    )
    return vertical, threshold


def height(curve: AverageCurve) -> Floats:
    """Return the true positive rate of an average curve at each false positive rate of the grid."""
    order = np.lexsort((curve.tpr, curve.fpr))
    return np.interp(GRID, curve.fpr[order], curve.tpr[order])


def _figure_2_conclusions(heights: Floats) -> list[Conclusion]:
    mean = heights.mean(axis=0)
    beside = mean - mean[:1]  # classifier, method, position: how far above C-1

    def said(index: int) -> str:
        texts = []
        for name, gap in zip(("vertical", "threshold"), beside[index], strict=True):
            texts.append(f"by the {name} average from {gap.min():+.3f} to {gap.max():+.3f}")
        return f"tp of {CLASSIFIERS[index]} minus tp of C-1 along fp, mean of {len(heights)}: {', '.join(texts)}"

    area = mean.mean(axis=-1)
    return [
        Conclusion(
            "Scenario 1: the vertical averages of C-1 and C-2a are about equal, the threshold averages differ",
            bool(np.abs(beside[1, 0]).max() < 0.03 and beside[1, 1].min() < -0.1),
            said(1),
        ),
        Conclusion(
            "Scenario 2: the threshold averages of C-1 and C-2b are about equal, the vertical one of C-2b is better",
            bool(np.abs(beside[2, 1]).max() < 0.08 and beside[2, 0].max() > 0.12 and beside[2, 0].min() > -0.01),
            said(2),
        ),
        Conclusion(
            "So the choice of average turns the choice of classifier (section 5)",
            bool(area[2, 0] - area[0, 0] > 0.01 and area[0, 1] - area[1, 1] > 0.03 > abs(area[0, 0] - area[1, 0])),
            "read vertically C-2a is as good as C-1 and C-2b better; at one common threshold C-2a is worse and C-2b "
            "about as good",
        ),
    ]


def _figure_2_table(heights: Floats) -> Table:
    area = np.trapezoid(heights, GRID, axis=-1)
    mean, sd = area.mean(axis=0), area.std(axis=0, ddof=1)
    return Table(
        f"Figure 2: area under the average curve, mean and standard deviation over {len(heights)} repetitions",
        ("classifier", "vertical", "sd", "threshold", "sd "),
        tuple(
            (name, *(float(number) for pair in zip(mean[index], sd[index], strict=True) for number in pair))
            for index, name in enumerate(CLASSIFIERS)
        ),
        digits=4,
    )


def _distance_table(data_sets: int, positions: int, repeats: int) -> Table:
    rows = []
    for separation in SEPARATIONS:
        areas = np.array(
            [
                [[curve.area for curve in both(name, data_sets, positions, seed, separation)] for name in CLASSIFIERS]
                for seed in range(max(2, repeats // 5))
            ]
        )
        gaps = (areas - areas[:, :1]).mean(axis=0)
        rows.append((f"{separation:g}", *(float(gap) for gap in gaps[1:].ravel())))
    return Table(
        "Area minus C-1's, by the distance of the class means",
        ("distance", "C-2a, vertical", "C-2a, threshold", "C-2b, vertical", "C-2b, threshold"),
        tuple(rows),
        "Scenario 1 holds at every distance. In scenario 2 the threshold average of C-2b gains nearly as much as the "
        "vertical one where the classes overlap much, and less and less where they are far apart.",
        digits=3,
    )


# -- drawing ---------------------------------------------------------------------------------------------------------


def _figures(two: Two, first: dict[str, tuple[AverageCurve, AverageCurve]]) -> tuple[Figure, ...]:
    return (
        Figure(
            "averaging-figure-1",
            "Figure 1: two data sets and three averages",
            "One threshold gives different rates on the two sets; pooling, averaging at a false positive rate and "
            "averaging at a threshold are three different curves.",
            partial(_draw_figure_1, two),
        ),
        Figure(
            "averaging-figure-2",
            "Figure 2: three classifiers and two averages",
            "C-2a is C-1's equal by the vertical average only, C-2b (nearly) by the threshold average only. Below, the "
            "corner enlarged, where the bands (95 %, of the mean over data sets) can be seen.",
            partial(_draw_figure_2, first),
        ),
    )


def _draw_figure_1(two: Two) -> Canvas:
    figure, panels = canvas(2, 2, size=(4.6, 4.2))
    _draw_densities(panels[0, 0], two)
    fixed = [two.rates(two.well), two.rates(two.poor)]
    other = _threshold_at(two.poor, fixed[0][0])
    marks = {
        "pooled": [*fixed, two.rates(pool([two.well, two.poor]))],
        "vertical": [fixed[0], two.rates(two.poor, other)],
        "threshold": fixed,
    }
    for ax, (method, points), letter in zip(panels.flat[1:], marks.items(), "bcd", strict=True):
        for scores, colour in ((two.well, COLOURS[0]), (two.poor, COLOURS[1])):
            curve = priori.roc(scores)
            ax.plot(curve.fpr, curve.tpr, color=colour, lw=1, label=scores.source)
        found = two.averages[method]
        ax.plot(found.fpr, found.tpr, color="black", label="pooled" if method == "pooled" else f"{method} average")
        for point, colour in zip(points, (COLOURS[0], COLOURS[1], "black"), strict=False):
            ax.plot(*point, "o", color=colour, mec="white", ms=8, zorder=3)
        if method != "pooled":
            ax.plot(*np.mean(points, axis=0), "o", color="black", mec="white", ms=8, zorder=3)
        ax.set(xlabel="fp", ylabel="tp", title=f"({letter}) {method}", aspect="equal")
        ax.grid(alpha=0.25)
        ax.legend(frameon=False, loc="lower right", fontsize="small")
    return figure


def _draw_densities(ax: Axes, two: Two) -> None:
    at = np.linspace(0, 1, 101)
    rows = (("pooled", pool([two.well, two.poor])), ("poorly separable", two.poor), ("well separable", two.well))
    for level, (name, scores) in enumerate(rows):
        for values, colour in ((scores.negatives, "0.5"), (scores.positives, COLOURS[2])):
            kernel = np.exp(-0.5 * ((at[:, None] - values) / 0.06) ** 2).mean(axis=1) / (0.06 * np.sqrt(2 * np.pi))
            ax.fill_between(at, level, level + kernel / 4, color=colour, alpha=0.4, lw=0)
        ax.text(0.01, level + 0.72, name, fontsize="small")
    ax.axvline(two.threshold, color=COLOURS[0], lw=1)
    ax.axvline(_threshold_at(two.poor, two.rates(two.well)[0]), color=COLOURS[1], lw=1, ls="--")
    ax.set(xlabel="score", yticks=[], title="(a) negative (grey) and positive scores")


def _draw_figure_2(first: dict[str, tuple[AverageCurve, AverageCurve]]) -> Canvas:
    figure, panels = canvas(3, 2, size=(3.8, 4.0))
    for column, (name, curves) in zip(panels.T, first.items(), strict=True):
        for ax in column:
            for curve, colour, label in zip(curves, COLOURS, ("vertical average", "threshold average"), strict=False):
                ax.plot(curve.fpr, curve.tpr, color=colour, label=label, lw=1, zorder=3)
                ax.fill_between(
                    curve.fpr,
                    curve.tpr_lower,
                    curve.tpr_upper,
                    facecolor=colour,
                    edgecolor=colour,
                    alpha=0.35,
                    lw=0.5,
                    zorder=2,
                )
            ax.set(xlabel="fp", ylabel="tp", title=name)
        for fpr, tpr in curves[0].singles(31)[:25]:  # some of them: the file stays small
            column[0].plot(fpr, tpr, color="0.8", lw=0.5, zorder=1)
        column[0].set(aspect="equal")
        column[1].set(xlim=(0, 0.3), ylim=(0.4, 1), title=f"{name}, the corner")
        column[1].legend(frameon=False, loc="lower right", fontsize="small")
    return figure
