"""Chapter 3 of the thesis redone: Tables 3.2-3.8 and Figures 3.1-3.5 and 3.8-3.11."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import priori
from papers.crossing import Pair, real_pair, simulated_pair
from papers.figures import canvas, draw_errors, legend_below
from papers.normal_curve import draw_area, draw_method, normal_conclusion
from papers.results import Conclusion, Figure, Progress, Reproduction, Table, silent
from papers.thesis_statements import statements
from papers.thesis_tables import (
    NIST2000,
    XM2VTS,
    difference_tests,
    interval_widths,
    published_tables,
    rates_table,
    table_conclusions,
)
from priori.base.types import Floats
from priori.examples import load
from priori.plots import plot_det, plot_epc, plot_roc
from priori.plots.style import COLOURS, LINES, finished, name_shade, shade
from priori.uncertainty.comparing.ztests import (
    Rates,
    Setting,
    ZDifference,
    ZSystem,
    normals,
    significant,
    weights_of,
    ztest_scores,
    ztests_along,
)
from validation.coverage.simulation import population

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["reproduce"]


def reproduce(*, quick: bool = False, progress: Progress = silent) -> Reproduction:
    """Redo the tables and figures of the chapter."""
    intervals = {"3.3": interval_widths(XM2VTS, "3.3"), "3.6": interval_widths(NIST2000, "3.6")}
    progress(1, 3)
    differences = {"3.4": difference_tests(XM2VTS, "3.4"), "3.7": difference_tests(NIST2000, "3.7")}
    progress(2, 3)
    simulated, faces = simulated_pair(), real_pair()
    normal = population(100 if quick else 1000, 10, 50, separation=2.5, user_effect_sd=0.0, rng=31)
    along, sample = ztests_along(faces.epc_a, faces.epc_b), _sample(faces)
    progress(3, 3)
    return Reproduction(
        name="thesis",
        title="Speaker verification, chapter 3: measures, z-tests and their presentation",
        paper="J. Mariéthoz, Discriminant models for text-independent speaker verification (PhD thesis), chapter 3; "
        "S. Bengio and J. Mariéthoz, A statistical significance test for person authentication, Odyssey 2004",
        data="Tables 3.3, 3.4, 3.6 and 3.7 are computed from the rates and trial counts that the thesis prints. The "
        "rates are rounded, so each of our numbers has a range: what rates that would be printed the same could give. "
        "The dependent test needs both systems' scores, which are not public: there only the agreement of the printed "
        "sigma and confidence is checked. Figures 3.1-3.3 and 3.5 are drawn from simulated scores, 3.4 and 3.11 from "
        "our faces. Figures 3.6 and 3.7 are Figures 4 and 5 of the EPC paper: see them there.",
        conclusions=(
            *table_conclusions(intervals, differences),
            *_sd_conclusions(),
            normal_conclusion(),
            _det_conclusion(normal),
            *_curve_conclusions(simulated, faces, along),
            *statements(100 if quick else 2000),
        ),
        tables=(rates_table(), *published_tables(intervals, differences), sample),
        figures=_figures(simulated, faces, normal, along),
        quick=quick,
    )


# -- Table 3.8, Figures 3.10 and 3.11 --------------------------------------------------------------------------------


def _sample(faces: Pair) -> Table:
    systems = load("faces").systems
    values, halves = [], []
    for name, curve in ((faces.a, faces.at_break_even_a), (faces.b, faces.at_break_even_b)):
        found = ztest_scores(systems[name].test, float(curve.threshold[0]))
        values.append(100 * float(found.a.hter.value))
        halves.append(f"± {50 * float(found.a.hter.width):.2f}")
    return Table(
        "Table 3.8: how to present results (ours, on the faces)",
        ("", "published, model A", "published, model B", faces.a, faces.b),
        (("HTER [%]", "4.9", "4.58", *values), ("95% Confidence", "± 0.33", "± 0.33", *halves)),
        "The thesis gives no rates or counts for its sample, so it cannot be computed anew; the layout can.",
    )


def standard_deviations(ratio: Floats, far: float = 0.1, frr: float = 0.2, positives: int = 100) -> dict[str, Floats]:
    """Return the standard deviations of Figure 3.10 as the ratio NN/NP grows."""
    rates = Rates(np.full(ratio.size, far), np.full(ratio.size, frr), ratio * positives, np.full(ratio.size, positives))
    kinds = {
        "FRR": ("hter", "frr"),
        "HTER": ("hter", "hter"),
        "NAIVE": ("naive", "hter"),
        "CLASS": ("class", "hter"),
        "FAR": ("hter", "far"),
    }
    return {name: np.sqrt(normals(rates, weights_of(of))[kind].variance) for name, (kind, of) in kinds.items()}


def _sd_conclusions() -> list[Conclusion]:
    ratio = np.geomspace(1, 1000, 301)
    sd = standard_deviations(ratio)
    above = (sd["HTER"] > sd["NAIVE"]) & (sd["HTER"] > sd["CLASS"])
    gap = sd["HTER"] / np.maximum(sd["NAIVE"], sd["CLASS"])
    kept = float(sd["HTER"][-1] / sd["HTER"][ratio >= 10][0])
    share = float(sd["HTER"][-1] / sd["FRR"][-1])
    return [
        Conclusion(
            "Figure 3.10: the HTER test has the larger standard deviation, the more so the larger NN/NP",
            bool(above[ratio >= 1.5].all() and np.all(np.diff(gap[ratio >= 2]) > 0)),
            f"from NN/NP = {ratio[np.argmax(above)]:.2f} on; {gap[-1]:.1f} times the others' at 1000. At NN/NP = 1 "
            f"NAIVE's is larger ({sd['NAIVE'][0]:.4f} against {sd['HTER'][0]:.4f}), since FAR and FRR differ",
        ),
        Conclusion(
            "Figure 3.10: it follows the FRR's, which NP sets, and does not fall as NN grows",
            kept > 0.97 and abs(share - 0.5) < 0.01,
            f"from NN/NP = 10 to 1000 it falls by {1 - kept:.1%}, and stays at {share:.2f} of the FRR's",
        ),
    ]


def _det_conclusion(normal: priori.Scores) -> Conclusion:
    curve = priori.det(normal, points="all")
    x, y = curve.probit
    inner = (curve.fpr > 0.01) & (curve.fpr < 0.5) & (curve.fnr > 0.01) & (curve.fnr < 0.5)
    slope, level = np.polyfit(x[inner], y[inner], 1)
    away = float(np.max(np.abs(y[inner] - (slope * x[inner] + level))))
    return Conclusion(
        "Figure 3.1: where the scores are normal, the DET curve is a line",
        away < 0.2 and abs(slope + 1) < 0.15,
        f"slope {slope:.2f}; at most {away:.2f} normal deviates away from a line between 1 % and 50 %",
    )


def _curve_conclusions(simulated: Pair, faces: Pair, along: dict[str, ZDifference]) -> list[Conclusion]:
    hter = simulated.break_even_hter
    confidence = np.asarray(along["independent"].confidence)
    inner = (faces.epc_a.alpha > 0) & (faces.epc_a.alpha < 1)
    return [
        Conclusion(
            "Figures 3.2 and 3.3 (Eq. 3.13): A's ROC is below B's, and A's error a priori above B's",
            simulated.share_below == 1 and hter[1] < hter[0],
            f"HTER {hter[0]:.2%} against {hter[1]:.2%}",
        ),
        Conclusion(
            "Figure 3.11: the confidence that two systems differ changes along alpha, and passes 95 % in places only",
            bool((confidence[inner] > 0.95).any() and (confidence[inner] < 0.95).any()),
            f"on the faces above 95 % at {int((confidence[inner] > 0.95).sum())} of {int(inner.sum())} alphas by the "
            f"independent test, at {int(significant(along, 0.95)[inner].sum())} by both tests",
        ),
    ]


# -- figures ---------------------------------------------------------------------------------------------------------


def _figures(simulated: Pair, faces: Pair, normal: priori.Scores, along: dict[str, ZDifference]) -> tuple[Figure, ...]:
    return (
        Figure(
            "thesis-figure-3-1",
            "Figure 3.1: (a) ROC and (b) DET of the same system (simulated, normal scores)",
            "The same curve twice, FRR against FAR: on normal-deviate axes it is a straight line.",
            partial(_draw_roc_det, normal),
        ),
        Figure(
            "thesis-figure-3-2",
            "Figures 3.2 and 3.3: two ROCs, the break-even line, and the thresholds that development data chose",
            "A is better at every threshold, and worse at the one that could be known.",
            partial(_draw_pair, simulated),
        ),
        Figure(
            "thesis-figure-3-4",
            "Figure 3.4: DETs and ROCs of two real systems, and their a priori points (faces)",
            f"The points have the thresholds of the development break-even point and lie off the line: HTER "
            f"{faces.break_even_hter[0]:.3f} against {faces.break_even_hter[1]:.3f}. On the thesis' speakers the order "
            "turned there (0.111 against 0.112), on our faces it does not; on a fold of the breast masses it does "
            "(Figure 2 again of the EPC paper). The EPCs of these two systems are Figure 3.6, the EPC paper's 4.",
            partial(_draw_real, faces),
        ),
        Figure(
            "thesis-figure-3-5",
            "Figure 3.5: two EPCs (simulated)",
            "B is better up to an alpha near 0.5, A beyond. Figures 3.6 and 3.7, on real scores, are Figures 4 and 5 "
            "of the EPC paper.",
            partial(_draw_epcs, simulated),
        ),
        Figure(
            "thesis-figure-3-8",
            "Figure 3.8: an interval as an area under the normal curve (10 % errors, 200 trials)",
            "The bounds are chosen so that the area between them is the confidence asked for.",
            draw_area,
        ),
        Figure(
            "thesis-figure-3-9",
            "Figure 3.9: the tests of HTERs step by step, with models A and B on XM2VTS",
            "From four rates and two counts to an interval and a verdict; blue, what the printed rates give.",
            draw_method,
        ),
        Figure(
            "thesis-figure-3-10",
            "Figure 3.10: standard deviations behind the tests (FAR 0.1, FRR 0.2, NP 100)",
            "NAIVE and CLASS fall with the number of impostors, CLASS (dashed) soon upon the FAR's line; the HTER test "
            "stays with the FRR, which NP sets. The legend is in the order of the lines at the right.",
            _draw_deviations,
        ),
        Figure(
            "thesis-figure-3-11",
            "Figure 3.11: EPCs with intervals, and below the confidence that they differ (faces)",
            "Only where the lower line passes 95 % may the systems be said to differ.",
            partial(_draw_along, faces, along),
        ),
    )


def _draw_roc_det(normal: priori.Scores) -> Canvas:
    figure, (left, right) = canvas(2, size=(4.6, 4.6))
    plot_roc([priori.roc(normal, points="hull")], ax=left, axes="far-frr")
    plot_det([priori.det(normal, points="hull")], ax=right)
    for ax, letter in ((left, "a"), (right, "b")):
        ax.set_title(f"({letter}) {ax.get_title()}")
        legend_below(ax)
    return figure


def _draw_real(faces: Pair) -> Canvas:
    figure, (left, right) = canvas(2, size=(4.6, 6.6))
    curves = [priori.det(curve.test, points="all", name=curve.name) for curve in (faces.epc_a, faces.epc_b)]
    plot_det(curves, ax=left, operating_points=[faces.at_break_even_a, faces.at_break_even_b])
    legend_below(left)
    draw_errors(right, faces, limit=0.4)
    right.set(title="ROC (a posteriori)", aspect="equal")
    return figure


def _draw_pair(pair: Pair) -> Canvas:
    figure, ax = canvas(size=(5.0, 5.0))
    draw_errors(ax, pair, limit=0.4)
    return figure


def _draw_epcs(pair: Pair) -> Canvas:
    figure, ax = canvas()
    plot_epc([pair.epc_a, pair.epc_b], ax=ax)
    legend_below(ax, 2)
    return figure


def _draw_deviations() -> Canvas:
    figure, ax = canvas()
    ratio = np.geomspace(1, 1000, 61)
    looks = zip(COLOURS[:5], (*LINES[:3], "--", "-"), (1.5, 1.5, 1.5, 1.5, 4), (3, 3, 3, 4, 2), strict=True)
    for (name, sd), (colour, line, width, order) in zip(standard_deviations(ratio).items(), looks, strict=True):
        # CLASS falls upon the line of the FAR, which is drawn wide and pale below it.
        ax.loglog(ratio, sd, color=colour, ls=line, lw=width, zorder=order, alpha=0.4 if width > 2 else 1, label=name)
    ax.set(xlabel="NN / NP", ylabel="standard deviation")
    ax.grid(alpha=0.25)
    legend_below(ax, 5)
    return figure


def _draw_along(faces: Pair, along: dict[str, ZDifference]) -> Canvas:
    figure, (upper, lower) = canvas(1, 2, size=(5.6, 3.2), sharex=True)
    curves, alpha = (faces.epc_a, faces.epc_b), faces.epc_a.alpha
    plot_epc(curves, ax=upper)
    setting = Setting.of(faces.epc_a.measure, alpha, 0.95, "two-sided")
    for curve, colour in zip(curves, COLOURS, strict=False):
        hter = ZSystem.of(curve.name, Rates.from_outcomes(curve.outcomes), setting).hter
        shade(upper, alpha, 100 * hter.lower, 100 * hter.upper, colour, step="mid")
    upper.set_xlabel("")
    upper.legend(frameon=False, loc="upper center", ncols=2)
    for name, colour, line in (("dependent", "0.1", "-"), ("independent", "0.45", "--")):
        confidence = 100 * along[name].confidence
        lower.plot(alpha, confidence, color=colour, ls=line, label=f"{name} test", drawstyle="steps-mid")
    lower.axhline(95, color="0.6", lw=0.8, ls=":")
    lower.fill_between(alpha, 0, 101, where=significant(along, 0.95).tolist(), color="0.85", lw=0, zorder=0, step="mid")
    name_shade(lower, "significant at 95 % by both tests", "0.85", None)
    lower.set(xlabel="alpha", ylabel="confidence (%)", ylim=(0, 101), xlim=(float(alpha[0]), float(alpha[-1])))
    finished(lower, below=True)
    legend_below(lower, 2)
    return figure
