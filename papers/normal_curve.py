"""Figures 3.8 and 3.9 of the thesis: the interval as an area under the normal curve, and the tests step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from papers.figures import canvas, legend_below
from papers.results import Conclusion
from papers.thesis_tables import LEVELS, XM2VTS
from priori.plots.style import COLOURS
from priori.uncertainty.comparing.ztests import ztest
from priori.uncertainty.rates.proportions import quantile

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["binomial_content", "draw_area", "draw_method", "normal_conclusion"]

#: Errors and trials of Figure 3.8: np(1 - p) = 18, above the 10 of the rule of thumb.
P, N, LEVEL = 0.1, 200, 0.95


def half_width(level: float, p: float = P, n: int = N) -> float:
    """Return beta of Eq. 3.19: the normal curve of a share of errors has an area of ``level`` within p +- beta."""
    return quantile(level) * float(np.sqrt(p * (1 - p) / n))


def binomial_content(level: float, p: float = P, n: int = N) -> float:
    """Return how probable it is that the share of errors of n trials, binomial, lies within p +- beta."""
    from scipy.special import bdtr

    beta = half_width(level, p, n)
    return float(bdtr(np.ceil(n * (p + beta)) - 1, n, p) - bdtr(np.floor(n * (p - beta)), n, p))


def normal_conclusion() -> Conclusion:
    """Check that the normal curve serves for the binomial where np(1 - p) is above 10."""
    contents = [binomial_content(level) for level in LEVELS]
    held = ", ".join(f"{level:.0%}: {content:.1%}" for level, content in zip(LEVELS, contents, strict=True))
    return Conclusion(
        "Figure 3.8, section 3.3: where np(1 - p) > 10 the area under the normal curve serves for the binomial",
        bool(np.all(np.abs(np.array(contents) - LEVELS) < 0.03)),
        f"with p = {P:g} and n = {N} the binomial has within the bounds of {held}; errors are whole, so it jumps "
        f"by up to {_highest():.1%} where a bound passes one",
    )


def _highest() -> float:
    """Return the probability of the likeliest number of errors."""
    from scipy.special import bdtr

    return float(np.max(np.diff(bdtr(np.arange(N + 1), N, P))))


def draw_area() -> Canvas:
    """Draw the normal curve of a share of errors, and the area between p - beta and p + beta."""
    figure, ax = canvas()
    sd, beta = float(np.sqrt(P * (1 - P) / N)), half_width(LEVEL)

    def density(at: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-0.5 * ((at - P) / sd) ** 2) / (sd * np.sqrt(2 * np.pi)))

    whole, inner = np.linspace(P - 4 * sd, P + 4 * sd, 201), np.linspace(P - beta, P + beta, 101)
    ax.fill_between(inner, density(inner), color=COLOURS[0], alpha=0.25, lw=0, label=rf"area $\delta$ = {LEVEL:g}")
    ax.plot(whole, density(whole), color=COLOURS[0], label=rf"normal, $\mu$ = {P:g}, $\sigma$ = {sd:.4f}")
    ax.set_xticks(
        [P - beta, P, P + beta],
        [rf"$p - \beta$" f"\n{P - beta:.3f}", f"$p$\n{P:g}", rf"$p + \beta$" f"\n{P + beta:.3f}"],
    )
    ax.set(xlabel="share of errors $Y$", ylabel="density", ylim=(0, None))
    legend_below(ax, 2)
    ax.get_legend().set_bbox_to_anchor((0.5, -0.24))  # below ticks of two lines
    return figure


def draw_method() -> Canvas:
    """Write the tests of Figure 3.9 as formulas, each with what it gives for models A and B on XM2VTS."""
    (far, frr), (far_b, frr_b) = ((rate / 100 for rate in pair) for pair in XM2VTS.rates)
    test = ztest(far, frr, XM2VTS.negatives, XM2VTS.positives, far_b=far_b, frr_b=frr_b)
    assert test.comparison is not None
    independent = test.comparison["independent"]
    gap, sd = abs(far + frr - far_b - frr_b) / 2, float(independent.sd)
    sd_a = float(test.a.hter.width) / 2 / quantile(LEVEL)
    z = ", ".join(f"{quantile(level):.3f}" for level in LEVELS)
    ends = ", ".join(f"{100 * quantile(level) * sd_a:.2f}" for level in LEVELS)
    lines = (
        (r"$Z_{\alpha/2}$ = " + z + r" for $\delta$ = 90, 95, 99 %", "two-sided"),
        (r"interval of one system:  HTER $\pm\ \sigma\, Z_{\alpha/2}$", rf"A: {50 * (far + frr):.2f} $\pm$ {ends} %"),
        (
            r"$\sigma^2 = \frac{FAR\,(1 - FAR)}{4\,NN} + \frac{FRR\,(1 - FRR)}{4\,NP}$",
            rf"A: $\sigma$ = {100 * sd_a:.3f} %",
        ),
        (
            r"A and B differ where  $z = |HTER_A - HTER_B|\, /\, \sigma > Z_{\alpha/2}$",
            f"z = {gap / sd:.2f}: confidence {float(independent.confidence):.1%}",
        ),
        (r"independent:  $\sigma^2 = \sigma_A^2 + \sigma_B^2$", rf"$\sigma$ = {100 * sd:.3f} %"),
        (
            r"dependent:  $\sigma^2 = \frac{FAR_{AB} + FAR_{BA}}{4\,NN} + \frac{FRR_{AB} + FRR_{BA}}{4\,NP}$",
            "needs the scores of both",
        ),
    )
    figure, ax = canvas(size=(8.2, 3.4))
    ax.set_axis_off()
    for row, (formula, numbers) in enumerate(lines):
        height = 0.95 - row / len(lines)
        ax.text(0.0, height, formula, va="center", fontsize=12, transform=ax.transAxes)
        ax.text(0.68, height, numbers, va="center", color=COLOURS[0], transform=ax.transAxes)
    return figure
