"""Figures without a script: matplotlib's SVG, made small and made to follow the page's colours."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.plots.comparison import draw_replicates
from priori.plots.curves import plot_det, plot_roc
from priori.plots.leaderboard import plot_ranks, plot_slopes
from priori.plots.style import COLOURS, label_ends, scaling, shade
from priori.studies.evaluation import Study
from priori.studies.evaluation.drawing import COARSE, coarse, thin
from priori.studies.evaluation.operating import mixture
from priori.studies.evaluation.study import FEW
from priori.uncertainty.rates.rate_intervals import RateInterval
from priori.words.headline import dots, error_lines
from priori.words.numbers import short
from priori.words.vocabulary import study_words

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


#: The colours of errors, by the kind of trials.
FATES = {"positives": COLOURS[0], "negatives": COLOURS[1], "attacks": COLOURS[3]}
#: The size of the figure of a thousand, in points, and the rows of its dots.
PEOPLE, DOTS = (560, 255), 20
#: What draws a figure of a study, and its size in inches.
Drawing = tuple[Callable[[Study, "Figure"], None], tuple[float, float]]


def static_figures(study: Study) -> dict[str, str]:
    """Return every figure of a study as SVG that can stand inside a page, by the name it has there."""
    rows, tall = len(study.members), max(3.0, 0.19 * len(study.members) + 1.2)
    chosen: dict[str, Drawing] = {
        "people": (_people, (PEOPLE[0] / 72, PEOPLE[1] / 72)),
        "dots": (_dots, (8.6, 1.2 + 0.38 * min(rows, FEW))),
        "epc": (_curves, (11.5, 6.6 if study.pairs else 4.2)),
        "roc": (partial(_a_posteriori, kind="roc", draw=plot_roc, loc="lower right"), (5.5, 5.3)),
        "det": (partial(_a_posteriori, kind="det", draw=plot_det, loc="upper right"), (5.5, 5.3)),
    }
    if study.pairs and study.pairs_that_matter[0].spread is not None:
        chosen["replicates"] = (_replicates, (5.5, 2.9))
    if study.board is not None and not study.many:
        chosen["slopes"] = (partial(_of_board, draw=plot_slopes), (6.4, tall + 1))
        chosen["ranks"] = (partial(_of_board, draw=plot_ranks), (6.4, tall))
    for place in study.matter:
        chosen[f"scores-{place}"] = (partial(_scores, place=place), (4.6, 2.5))
    return {name: drawn(name, partial(draw, study), size) for name, (draw, size) in chosen.items()}


def drawn(name: str, draw: Callable[[Figure], object], size: tuple[float, float]) -> str:
    """Return what ``draw`` puts on a figure of ``size`` inches, as SVG that can stand inside a page.

    It is drawn in the report's own style, whatever the user's is; ``name`` makes the ids of a drawing its own.
    """
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
    svg = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", svg)
    svg = re.sub(r'<path d="[^"]*" fill="none"/>\n?', "", svg)  # the grounds of figure and axes, which nobody sees
    svg = re.sub(r' d="([^"]*)"', lambda path: f' d="{short_path(path[1])}"', svg)
    used = set(re.findall(r"#([\w-]+)", svg))
    svg = re.sub(r' id="([\w.-]+)"', lambda name: name[0] if name[1] in used else "", svg)
    svg = _unwrapped(re.sub(r"<defs>\s*</defs>\n?", "", svg))
    return re.sub(r"\s*\n\s*", "\n", svg).strip()


def _unwrapped(svg: str) -> str:
    """Return a drawing without groups that say nothing: most of matplotlib's."""
    parts, says = list[str](), list[bool]()
    for part in re.split(r"(<g(?: [^>]*)?(?<!/)>|</g>)", svg):
        if part == "</g>":
            said = says.pop()
        elif part.startswith("<g"):
            says.append(said := part != "<g>")
        else:
            said = True
        parts += [part] * said
    return "".join(parts)


def short_path(path: str) -> str:
    """Return a path in fewer letters: no point twice, one number where a line is level or upright.

    Examples
    --------
    >>> short_path("M 1 2 L 1 5 L 3 5 L 3 5 L 4 -6 z")
    'M1 2V5H3L4-6z'
    """
    parts, at = list[str](), ("", "")
    for letter, said in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = said.split()
        short = letter + " ".join(numbers)
        if letter == "L" and len(numbers) == 2 and all(at):
            across, up = (number != before for number, before in zip(numbers, at, strict=True))
            short = short if across and up else f"H{numbers[0]}" * across + f"V{numbers[1]}" * up
        parts.append(short.replace(" -", "-"))
        at = (numbers[-2], numbers[-1]) if len(numbers) > 1 else ("", "")
    return "".join(parts)


def _font(said: re.Match[str]) -> str:
    return f"font-size: {said[2]}" + (f"; font-weight: {said[1]}" if said[1] else "")


def _attributes(style: str) -> str:
    """Return a style as attributes: a server's policy lets no style stand in an element."""
    pairs = (part.split(":", 1) for part in style.split(";") if ":" in part)
    return "".join(f' {name.strip()}="{value.strip()}"' for name, value in pairs)


def figure_label(name: str) -> str:
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
        ends.append((figure_label(member.name), float(values[-1]), colour))
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
    names = (figure_label(study.members[system].name) for system in (pair.a, pair.b))
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
    names = (figure_label(study.members[system].name) for system in (pair.a, pair.b))
    axes.annotate(" minus ".join(names), (0.01, 0.97), xycoords="axes fraction", va="top", fontsize=9)
    axes.set(xlabel="difference" + (" (points)" if scale == 100 else ""), ylabel="replicates (%)")


def _a_posteriori(study: Study, figure: Figure, *, kind: str, draw: Callable[..., Axes], loc: Any) -> None:
    """Draw ROC or DET curves with the a priori operating points; the legend names the curves only."""
    members = [study.members[place] for place in study.matter]
    curves = [replace(getattr(member, kind), name=figure_label(member.name)) for member in members]
    here = slice(study.at, study.at + 1)
    points = [
        replace(member.curve, name=figure_label(member.name), outcomes=member.curve.outcomes[here])
        for member in members
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


def _people(study: Study, figure: Figure) -> None:
    """Draw a dot for each of a thousand, half of them positives, coloured where there are errors; pale: may be."""
    member, words = study.members[study.order_at(study.at)[0]], study_words(study)
    rates, shares = member.rates[study.at], mixture(member.rates[study.at])
    figure.set_layout_engine("none")  # dots stand where they are put
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, PEOPLE[0]), ylim=(PEOPLE[1], 0))
    axes.set_axis_off()
    left, step = 8.0, 10.0
    for number, (kind, rate) in enumerate(rates.items()):
        trials = 500 if kind == "positives" else round(500 * shares[kind])
        sure, may = round(trials * rate.rate), int(np.ceil(trials * rate.upper - 1e-9))
        for begin, end, look in (
            (0, sure, {"color": FATES[kind]}),
            (sure, may, {"color": FATES[kind], "alpha": 0.42}),
            (may, trials, {"color": "#d9d9d9"}),
        ):
            for x, top, bottom in _runs(begin, end):
                dashes: Any = (0, (0, step / 7))
                down = [18 + step * (row + 0.5) for row in (top, bottom - 1 + 0.01)]
                axes.plot(
                    [left + step * x] * 2, down, lw=7, ls=dashes, dash_capstyle="round", solid_capstyle="round", **look
                )
        who, _ = words.error(kind)
        axes.text(left - 4, 8, f"{trials} {who}", fontsize=9, fontweight="bold", va="center")
        line = error_lines({kind: _times(rate, trials / 1000)}, words)[0]
        where = (12, 232) if number == 0 else (290, 232 + 15 * (number - 1))
        axes.plot(where[0] - 6, where[1], "o", color=FATES[kind], ms=6)
        interval = f" ({line.interval})" if line.interval else ""
        axes.text(*where, f"{line.about} {line.who} {line.fate}{interval}", fontsize=9, va="center")
        left += step * -(-trials // DOTS) + 20


def _runs(begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the columns that dots from one number to another fill: which, its first row and its end."""
    for column in range(begin // DOTS, -(-end // DOTS)):
        yield column, max(begin - DOTS * column, 0), min(end - DOTS * column, DOTS)


def _times(rate: RateInterval, share: float) -> RateInterval:
    return replace(rate, rate=share * rate.rate, lower=share * rate.lower, upper=share * rate.upper)


def _dots(study: Study, figure: Figure) -> None:
    """Draw values, intervals, ranks and letters, from best to worst; beside them what was promised and kept."""
    scale = 100 if study.settings.shown.rate else 1
    order, texts = study.order_at(study.at)[:FEW], dots(study, study.at)
    kinds = list(study.members[order[0]].promises[study.at])
    axes, *panels = figure.subplots(
        1, 1 + len(kinds), sharey=True, width_ratios=[3.2, *[1] * len(kinds)], squeeze=False
    )[0]
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
            " · ".join(filter(None, texts[place])).replace("\u00a0", " "),
            (max(value, upper), row),
            (7, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
        for panel, kind in zip(panels, kinds, strict=True):
            said, kept = member.promises[study.at][kind], 100 * member.rates[study.at][kind].rate
            panel.plot([100 * said.lower, 100 * said.upper], [row, row], color="#d9d9d9", lw=9, solid_capstyle="butt")
            panel.plot([100 * said.rate, kept], [row, row], color=colour, lw=1.5)
            panel.plot(100 * said.rate, row, "o", mfc="#ffffff", color=colour, ms=6)
            panel.plot(kept, row, "o", color=colour, ms=6)
    for colour, each in drawn.items():
        rows, lowers, values, uppers = np.array(each).T
        ends = np.column_stack([lowers, uppers, np.full(rows.size, np.nan)])
        axes.plot(ends.ravel(), rows.repeat(3), color=colour, lw=2.5)
        axes.plot(values, rows, "o", color=colour, ms=7)
    axes.set_yticks(range(len(order)), [figure_label(study.members[place].name) for place in order], fontsize=9)
    axes.set(
        xlabel=f"{study.settings.shown.title}{scaling(study.settings.shown.rate)[1]}", ylim=(len(order) - 0.5, -0.5)
    )
    axes.margins(x=0.3)
    if study.settings.shown.rate and not study.settings.shown.greater_is_better:
        axes.set_xlim(left=0)
    axes.grid(axis="x", alpha=0.25)
    for panel, kind in zip(panels, kinds, strict=True):
        panel.set_xlabel("\n".join(study_words(study).error(kind)) + " (%)", fontsize=9)
        panel.set_xlim(left=0)
        panel.tick_params(left=False)
        panel.grid(axis="x", alpha=0.25)


def _of_board(study: Study, figure: Figure, *, draw: Callable[..., Axes]) -> None:
    assert study.board is not None
    names = np.array([figure_label(str(name)) for name in study.board.system])
    draw(replace(study.board, system=names), ax=figure.add_subplot())


def _scores(study: Study, figure: Figure, *, place: int) -> None:
    axes, member = figure.add_subplot(), study.members[place]
    own = COLOURS[study.matter.index(place)]
    shares, edges = member.histogram.shares(), member.histogram.edges
    for name, colour in (("negatives", "#8b919b"), ("positives", own)):
        axes.stairs(100 * shares[name], edges, fill=True, color=colour, alpha=0.4, label=name)
        axes.stairs(100 * shares[f"dev_{name}"], edges, color=colour, lw=1)
    inside = partial(np.clip, a_min=edges[0], a_max=edges[-1])
    if (others := member.thresholds_of_others) is not None:
        axes.axvspan(*(float(inside(side[study.at])) for side in others), color="#000000", alpha=0.1, lw=0)
    axes.axvline(float(inside(member.best_threshold[study.at])), color="#000000", lw=1, ls=":")
    axes.axvline(float(inside(member.curve.columns()["threshold"][study.at])), color="#000000", lw=1.5)
    axes.set(xlabel="distance" if member.curve.distances else "score", ylabel="share (%)", xlim=(edges[0], edges[-1]))
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
