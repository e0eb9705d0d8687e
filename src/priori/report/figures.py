"""Figures without a script: matplotlib's SVG, made small and made to follow the page's colours."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from priori.plots.curves import plot_det, plot_epc, plot_roc
from priori.plots.leaderboard import plot_pairs, plot_ranks, plot_slopes
from priori.plots.style import COLOURS, scaling
from priori.report.ranking_data import beats, dots
from priori.studies.evaluation import Study
from priori.studies.evaluation.study import ranks_of
from priori.words.numbers import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Text stays text, in the page's own typeface; lines lose the points that nobody sees.
STYLE: dict[str, Any] = {
    "svg.fonttype": "none", "font.size": 10, "axes.titlesize": 10, "axes.spines.top": False,
    "axes.spines.right": False, "path.simplify": True, "path.simplify_threshold": 0.25, "legend.fontsize": 9,
}  # fmt: skip


#: Systems that have no colour of their own.
GREY = "#8b919b"


def static_figures(study: Study) -> dict[str, str]:
    """Return every figure of a study as SVG that can stand inside a page, by the name it has there."""
    drawings: dict[str, tuple[Callable[[Study, Figure], None], tuple[float, float]]] = {
        "epc": (_curves, (11.5, 4.6)),
        "roc": (partial(_a_posteriori, kind="roc", draw=plot_roc, loc="lower right"), (5.5, 5.3)),
        "det": (partial(_a_posteriori, kind="det", draw=plot_det, loc="upper right"), (5.5, 5.3)),
    }
    if study.pairs:
        drawings["difference"] = (_difference, (11.5, 3.8))
    tall = max(3.0, 0.19 * len(study.members) + 1.2)
    if study.standings is not None:
        drawings["dots"] = (_dots, (11.5, tall))
    if study.many and study.standings is not None:
        drawings["matrix"] = (_matrix, (11.5, min(tall, 9.0)))
    if study.board is not None:
        drawings["slopes"] = (partial(_of_board, draw=plot_slopes), (8.0, min(tall + 1, 12.0)))
        drawings["ranks"] = (partial(_of_board, draw=plot_ranks), (8.0, min(tall, 9.0)))
    for place in study.matter:
        drawings[f"scores-{place}"] = (partial(_scores, place=place), (4.6, 2.5))
    return {name: drawn(name, partial(draw, study), size) for name, (draw, size) in drawings.items()}


def drawn(name: str, draw: Callable[[Figure], None], size: tuple[float, float]) -> str:
    """Return what ``draw`` puts on a figure of ``size`` inches, as SVG that can stand inside a page."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {**matplotlib.rcParamsDefault, **STYLE, "svg.hashsalt": f"priori-{name}"}
    style.pop("backend", None)
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)  # a browser has other typefaces
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        for axes in figure.axes:
            axes.set_title("")
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _slim(buffer.getvalue())


def _slim(svg: str) -> str:
    """Return the drawing alone: no prologue, no sizes, no names that nothing uses, the page's colours and type."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    for size in ("height", "width"):
        svg = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", svg)
    used = set(re.findall(r"#([\w-]+)", svg))
    svg = re.sub(r' id="([\w.-]+)"', lambda name: name[0] if name[1] in used else "", svg)
    svg = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r"font: ([\w ]*?)([\d.]+px) [^;\"]*", r"font: \1\2 var(--sans)", svg)
    for theirs, ours in (("#000000", "currentColor"), ("#ffffff", "var(--paper)"), ("#d9d9d9", "var(--shade)")):
        svg = svg.replace(theirs, ours)
    return re.sub(r"\n\s*", "\n", svg).strip()


def _label(name: str) -> str:
    """Return a name as matplotlib shows it as it is: no formulas, not hidden by a first underscore."""
    text = short(name, 28).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _curves(study: Study, figure: Figure) -> None:
    axes = figure.add_subplot()
    members = [study.members[place] for place in study.matter]
    bands = [member.band for member in members if member.band is not None]
    regions = study.pairs[0].regions() if len(study.pairs) == 1 else ()
    curves = [replace(member.curve, name=_label(member.name)) for member in members]
    grey = 100 if study.settings.shown.rate else 1
    for curve in _others(study, study.curves):
        axes.plot(curve.alpha, grey * curve.value, color=GREY, lw=0.6, zorder=1)
    plot_epc(curves, ax=axes, bands=bands or None, regions=regions, best=len(curves) <= 3)
    scale = 100 if study.settings.shown.rate else 1
    alpha = float(study.settings.alpha)
    axes.axvline(alpha, color="#000000", lw=1)
    for number, curve in enumerate(curves):
        axes.plot(alpha, scale * curve.value[study.at], "o", color=COLOURS[number], mec="white", ms=8)
    axes.set_xlabel("alpha")


def _difference(study: Study, figure: Figure) -> None:
    pair, scale = study.pairs_that_matter[0], 100 if study.settings.shown.rate else 1
    rows = 1 if pair.confidence is None else 2
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=[2, 1][:rows])[:, 0]
    upper = panels[0]
    for panel in panels:
        for low, high in pair.regions():
            panel.axvspan(low, high, color="0.85", zorder=0, lw=0)
        panel.axvline(float(study.settings.alpha), color="#000000", lw=1)
        panel.grid(alpha=0.25)
    if pair.lower is not None and pair.upper is not None:
        upper.fill_between(pair.alpha, scale * pair.lower, scale * pair.upper, color="#8b919b", alpha=0.3, lw=0)
    if pair.expected is not None:
        upper.plot(pair.alpha, scale * pair.difference, color="#555555", ls=":", lw=1)
    upper.plot(pair.alpha, scale * (pair.difference if pair.expected is None else pair.expected), color="#000000")
    upper.axhline(0, color="#000000", lw=0.8)
    upper.set_ylabel("difference" + (" (points)" if scale == 100 else ""))
    if pair.confidence is not None:
        panels[1].plot(pair.alpha, 100 * pair.confidence, color=COLOURS[0])
        panels[1].axhline(100 * study.settings.confidence_level, color="#000000", lw=0.8, ls="--")
        panels[1].set(ylabel="confidence (%)", ylim=(0, 102))
    panels[-1].set(xlabel="alpha", xlim=(0, 1))


def _a_posteriori(study: Study, figure: Figure, *, kind: str, draw: Callable[..., Axes], loc: Any) -> None:
    """Draw ROC or DET curves with the a priori operating points; the legend names the curves only."""
    members = [study.members[place] for place in study.matter]
    curves = [replace(getattr(member, kind), name=_label(member.name)) for member in members]
    here = slice(study.at, study.at + 1)
    points = [replace(member.curve, name=_label(member.name), outcomes=member.curve.outcomes[here])
              for member in members]  # fmt: skip
    axes = figure.add_subplot()
    for curve in _others(study, [getattr(member, kind) for member in study.members]):
        x, y = curve.probit if kind == "det" else (100 * curve.fpr, 100 * curve.tpr)
        axes.plot(x, y, color=GREY, lw=0.6, zorder=1)
    draw(curves, ax=axes, operating_points=points)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[: len(curves)], labels[: len(curves)], frameon=False, loc=loc)


def _others(study: Study, drawn: Sequence[Any]) -> list[Any]:
    """Return what belongs to the systems that have no colour of their own."""
    return [one for place, one in enumerate(drawn) if place not in study.matter]


def _dots(study: Study, figure: Figure) -> None:
    """Draw values, intervals and ranks, from best to worst; coloured those that could be the best."""
    assert study.standings is not None
    scale, axes = 100 if study.settings.shown.rate else 1, figure.add_subplot()
    order = np.argsort(ranks_of(study.curves, study.at), kind="stable").tolist()
    texts = dots(study, study.at)
    for row, place in enumerate(order):
        member = study.members[place]
        colour = COLOURS[0] if study.standings[2][place, study.at] else "#8b919b"
        value = end = scale * member.curve.value[study.at]
        if member.band is not None:
            lower, end = scale * member.band.lower[study.at], scale * member.band.upper[study.at]
            axes.plot([lower, end], [row, row], color=colour, lw=1.5)
        axes.plot(value, row, "o", color=colour, ms=5)
        axes.annotate(texts[place], (end, row), (6, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(order)), [_label(study.members[place].name) for place in order], fontsize=8)
    axes.set(
        xlabel=f"{study.settings.shown.title}{scaling(study.settings.shown.rate)[1]}", ylim=(len(order) - 0.5, -0.5)
    )
    axes.margins(x=0.15)
    axes.grid(axis="x", alpha=0.25)


def _matrix(study: Study, figure: Figure) -> None:
    """Draw who is significantly better than whom."""
    order = np.argsort(ranks_of(study.curves, study.at), kind="stable")
    better = np.zeros((order.size, order.size), dtype=np.bool_)
    for pair, letter in zip(study.pairs, beats(study)[study.at], strict=True):
        better[pair.a, pair.b], better[pair.b, pair.a] = letter == "a", letter == "b"
    names = [_label(study.members[place].name) for place in order.tolist()]
    plot_pairs(names, better[np.ix_(order, order)], ax=figure.add_subplot())


def _of_board(study: Study, figure: Figure, *, draw: Callable[..., Axes]) -> None:
    assert study.board is not None
    names = np.array([_label(str(name)) for name in study.board.system])
    draw(replace(study.board, system=names), ax=figure.add_subplot())


def _scores(study: Study, figure: Figure, *, place: int) -> None:
    axes, member = figure.add_subplot(), study.members[place]
    own = COLOURS[study.matter.index(place)]
    shares, edges = member.histogram.shares(), member.histogram.edges
    for name, colour in (("negatives", "#8b919b"), ("positives", own)):
        axes.stairs(100 * shares[name], edges, fill=True, color=colour, alpha=0.4, label=name)
        axes.stairs(100 * shares[f"dev_{name}"], edges, color=colour, lw=1)
    threshold = float(np.clip(member.curve.threshold[study.at], edges[0], edges[-1]))
    axes.axvline(threshold, color="#000000", lw=1.5)
    axes.set(xlabel="score", ylabel="share (%)", xlim=(edges[0], edges[-1]))
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
