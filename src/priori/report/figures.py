"""Figures without a script: matplotlib's SVG, made small and made to follow the page's colours."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.curves.thinning import thin
from priori.plots.comparison import draw_replicates
from priori.plots.curves import plot_det, plot_roc
from priori.plots.leaderboard import plot_pairs, plot_ranks, plot_slopes
from priori.plots.style import COLOURS, label_ends, scaling, shade
from priori.studies.evaluation import Study
from priori.studies.evaluation.drawing import COARSE, coarse
from priori.studies.evaluation.study import FEW
from priori.words.headline import dots
from priori.words.numbers import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Text stays text, in the page's own typeface; lines lose the points that nobody sees.
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "path.simplify": True,
    "path.simplify_threshold": 0.25,
    "legend.fontsize": 9,
}


#: Systems that have no colour of their own.
GREY = "#8b919b"


#: What draws a figure of a study, and its size in inches.
Drawing = tuple[Callable[[Study, "Figure"], None], tuple[float, float]]


def static_figures(study: Study) -> dict[str, str]:
    """Return every figure of a study as SVG that can stand inside a page, by the name it has there."""
    return {name: drawn(name, partial(draw, study), size) for name, (draw, size) in drawings(study).items()}


def drawings(study: Study) -> dict[str, Drawing]:
    """Return what draws each figure of a study, by the name it has on the page."""
    rows, tall = len(study.members), max(3.0, 0.19 * len(study.members) + 1.2)
    chosen: dict[str, Drawing] = {
        "dots": (partial(_dots, most=FEW), (7.6, 0.9 + 0.38 * min(rows, FEW))),
        "epc": (_curves, (11.5, 6.6 if study.pairs else 4.2)),
        "roc": (partial(_a_posteriori, kind="roc", draw=plot_roc, loc="lower right"), (5.5, 5.3)),
        "det": (partial(_a_posteriori, kind="det", draw=plot_det, loc="upper right"), (5.5, 5.3)),
    }
    if study.pairs and study.pairs_that_matter[0].spread is not None:
        chosen["replicates"] = (_replicates, (5.5, 2.9))
    if study.many:
        chosen["standings"] = (partial(_dots, most=rows), (11.5, tall))
    if study.many and study.standings is not None:
        chosen["matrix"] = (_matrix, (11.5, min(tall, 9.0)))
    if study.board is not None:
        chosen["slopes"] = (partial(_of_board, draw=plot_slopes), (6.4, min(tall + 1, 12.0)))
        chosen["ranks"] = (partial(_of_board, draw=plot_ranks), (6.4, min(tall, 9.0)))
    for place in study.matter:
        chosen[f"scores-{place}"] = (partial(_scores, place=place), (4.6, 2.5))
    return chosen


def drawn(name: str, draw: Callable[[Figure], object], size: tuple[float, float]) -> str:
    """Return what ``draw`` puts on a figure of ``size`` inches, as SVG that can stand inside a page."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with figure_style(name):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        for axes in figure.axes:
            axes.set_title("")
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _slim(buffer.getvalue())


@contextmanager
def figure_style(name: str) -> Iterator[None]:
    """Draw in the report's own style, whatever the user's is; ``name`` makes the ids of a drawing its own."""
    import matplotlib

    style: Any = {**matplotlib.rcParamsDefault, **STYLE, "svg.hashsalt": f"priori-{name}"}
    style.pop("backend", None)
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)  # a browser has other typefaces
        yield


def _slim(svg: str) -> str:
    """Return the drawing alone: no prologue, no sizes, short numbers, the page's colours and type."""
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = svg[svg.index("<svg") :].replace("xlink:href", "href")
    svg = re.sub(r'<svg[^>]*?( viewBox="[^"]*")[^>]*', r'<svg font-size="10"\1', svg, count=1)
    short_number = partial(re.sub, r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"))
    svg = re.sub(r"<[^>]*>", lambda tag: short_number(tag[0]), svg)  # what stands between tags is for people
    svg = re.sub(r"font: (?:(\w+) )?([\d.]+px) [^;\"]*", _font, svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    svg = re.sub(r' style="([^"]*)"', lambda style: _attributes(style[1]), svg)
    for theirs, ours in (("#000000", "currentColor"), ("#ffffff", "var(--paper)"), ("#d9d9d9", "var(--shade)")):
        svg = svg.replace(theirs, ours)
    used = set(re.findall(r"#([\w-]+)", svg))
    svg = re.sub(r' id="([\w.-]+)"', lambda name: name[0] if name[1] in used else "", svg)
    return re.sub(r"\s*\n\s*", "\n", svg).strip()


def _font(said: re.Match[str]) -> str:
    return f"font-size: {said[2]}" + (f"; font-weight: {said[1]}" if said[1] else "")


def _attributes(style: str) -> str:
    """Return a style as attributes: a server's policy lets no style stand in an element."""
    pairs = (part.split(":", 1) for part in style.split(";") if ":" in part)
    return "".join(f' {name.strip()}="{value.strip()}"' for name, value in pairs)


def _label(name: str) -> str:
    """Return a name as matplotlib shows it as it is: no formulas, not hidden by a first underscore."""
    text = short(name, 28).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _curves(study: Study, figure: Figure) -> None:
    """Draw the curves, each named at its end, and below them on the same axis the best minus the runner-up."""
    rows = 2 if study.pairs else 1
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=[2, 1][:rows])[:, 0]
    axes, scale = panels[0], 100 if study.settings.shown.rate else 1
    _in_grey(axes, [_thinned(curve.alpha, scale * curve.value) for curve in _others(study, study.curves)])
    leader, ends = study.order_at(study.at)[0], []
    for number, place in enumerate(study.matter):
        member, colour = study.members[place], COLOURS[number]
        if place == leader and member.band is not None:
            band = member.band
            shade(axes, band.alpha, scale * band.lower, scale * band.upper, colour)
        values = scale * member.curve.value
        axes.plot(member.curve.alpha, values, color=colour, lw=2.2 if place == leader else 1.2, drawstyle="steps-mid")
        axes.plot(float(study.settings.alpha), values[study.at], "o", color=colour, mec="white", ms=8)
        ends.append((_label(member.name), float(values[-1]), colour))
    axes.set_ylabel(f"{study.settings.shown.title}{scaling(study.settings.shown.rate)[1]}")
    if study.settings.shown.rate and not study.settings.shown.greater_is_better:
        axes.set_ylim(bottom=0)
    label_ends(axes, ends, 9)
    if study.pairs:
        _difference(study, panels[1], scale)
    for panel in panels:
        panel.axvline(float(study.settings.alpha), color="#000000", lw=1)
        panel.grid(alpha=0.25)
    panels[-1].set(xlabel="alpha", xlim=(0, 1))


def _difference(study: Study, axes: Axes, scale: int) -> None:
    """Draw the difference with its interval, and in the winner's colour where it is significant."""
    pair = study.pairs_that_matter[study.first_pair]
    if pair.lower is not None and pair.upper is not None:
        shade(axes, pair.alpha, scale * pair.lower, scale * pair.upper, GREY, alpha=0.3)
    if pair.expected is not None:
        axes.plot(pair.alpha, scale * pair.difference, color="#555555", ls=":", lw=1)
    axes.plot(pair.alpha, scale * (pair.difference if pair.expected is None else pair.expected), color="#000000")
    axes.axhline(0, color="#000000", lw=0.8)
    for winner in (pair.a, pair.b):
        for low, high in pair.regions(winner):
            axes.axvspan(low, high, ymax=0.05, color=COLOURS[study.matter.index(winner)], lw=0)
    names = (_label(study.members[system].name) for system in (pair.a, pair.b))
    axes.set_ylabel("difference" + (" (points)" if scale == 100 else ""))
    axes.annotate(" minus ".join(names), (0.01, 0.97), xycoords="axes fraction", va="top", fontsize=9)


def _replicates(study: Study, figure: Figure) -> None:
    """Draw how the replicates of the difference spread at the alpha of interest."""
    pair, axes = study.pairs_that_matter[study.first_pair], figure.add_subplot()
    scale = 100 if study.settings.shown.rate else 1
    assert pair.spread is not None
    counts = pair.spread.counts[study.at]
    edges = np.linspace(pair.spread.low[study.at], pair.spread.high[study.at], counts.size + 1)
    bounds = [scale * bound[study.at] for bound in (pair.lower, pair.upper) if bound is not None]
    # Black becomes the page's own colour of text.
    draw_replicates(axes, 100 * counts / counts.sum(), scale * edges, bounds, fill=GREY, line="#000000", zero="#000000")
    names = (_label(study.members[system].name) for system in (pair.a, pair.b))
    axes.annotate(" minus ".join(names), (0.01, 0.97), xycoords="axes fraction", va="top", fontsize=9)
    axes.set(xlabel="difference" + (" (points)" if scale == 100 else ""), ylabel="replicates (%)")


def _a_posteriori(study: Study, figure: Figure, *, kind: str, draw: Callable[..., Axes], loc: Any) -> None:
    """Draw ROC or DET curves with the a priori operating points; the legend names the curves only."""
    members = [study.members[place] for place in study.matter]
    curves = [replace(getattr(member, kind), name=_label(member.name)) for member in members]
    here = slice(study.at, study.at + 1)
    points = [
        replace(member.curve, name=_label(member.name), outcomes=member.curve.outcomes[here]) for member in members
    ]
    axes = figure.add_subplot()
    others = map(coarse, _others(study, [getattr(member, kind) for member in study.members]))
    _in_grey(axes, [curve.probit if kind == "det" else (100 * curve.fpr, 100 * curve.tpr) for curve in others])
    draw(curves, ax=axes, operating_points=points)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[: len(curves)], labels[: len(curves)], frameon=False, loc=loc)


def _thinned(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    kept = thin(x, y / (np.ptp(y) or 1.0), tolerance=COARSE)
    return x[kept], y[kept]


def _in_grey(axes: Axes, lines: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> None:
    """Draw the lines of the systems without a colour, as one, since hundreds would make a large page."""
    if lines:
        x, y = (np.concatenate([np.append(line[side], np.nan) for line in lines]) for side in (0, 1))
        axes.plot(x, y, color=GREY, lw=0.6, zorder=1)


def _others(study: Study, drawn: Sequence[Any]) -> list[Any]:
    """Return what belongs to the systems that have no colour of their own."""
    return [one for place, one in enumerate(drawn) if place not in study.matter]


def _dots(study: Study, figure: Figure, *, most: int) -> None:
    """Draw values, intervals, ranks and letters, from best to worst."""
    scale, axes = 100 if study.settings.shown.rate else 1, figure.add_subplot()
    order, texts = study.order_at(study.at)[:most], dots(study, study.at)
    drawn: dict[str, list[tuple[int, float, float, float]]] = {}
    for row, place in enumerate(order):
        member = study.members[place]
        possible = row == 0 if study.standings is None else study.standings[2][place, study.at]
        colour = (COLOURS[0] if possible else GREY) if study.many else COLOURS[study.matter.index(place)]
        value = lower = upper = scale * member.curve.value[study.at]
        if member.band is not None:
            lower, upper = scale * member.band.lower[study.at], scale * member.band.upper[study.at]
        drawn.setdefault(colour, []).append((row, lower, value, upper))
        axes.annotate(
            " · ".join(texts[place]).replace("\u00a0", " "),
            (max(value, upper), row),
            (7, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    for colour, each in drawn.items():
        rows, lowers, values, uppers = np.array(each).T
        ends = np.column_stack([lowers, uppers, np.full(rows.size, np.nan)])
        axes.plot(ends.ravel(), rows.repeat(3), color=colour, lw=2.5)
        axes.plot(values, rows, "o", color=colour, ms=7)
    axes.set_yticks(range(len(order)), [_label(study.members[place].name) for place in order], fontsize=9)
    axes.set(
        xlabel=f"{study.settings.shown.title}{scaling(study.settings.shown.rate)[1]}", ylim=(len(order) - 0.5, -0.5)
    )
    axes.margins(x=0.25)
    if study.settings.shown.rate and not study.settings.shown.greater_is_better:
        axes.set_xlim(left=0)
    axes.grid(axis="x", alpha=0.25)


def _matrix(study: Study, figure: Figure) -> None:
    """Draw who is significantly better than whom."""
    order = np.array(study.order_at(study.at))
    better = np.zeros((order.size, order.size), dtype=np.bool_)
    for pair in study.pairs:
        best = pair.better(study.at) if pair.significant is not None and pair.significant[study.at] else None
        if best is not None:
            better[best, pair.a + pair.b - best] = True
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
