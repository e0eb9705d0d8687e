"""The page: one HTML file from one study, with or without scripts, and the data it carries for them."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution, shown
from priori.base.extras import require
from priori.base.results import plain
from priori.plots.curves import det_axes
from priori.plots.leaderboard import MATRIX_NAMED, named_rows
from priori.plots.style import spread
from priori.report.sections import sections_of
from priori.report.tables import fixed_tables, moving_tables
from priori.studies.evaluation import Member, Study
from priori.studies.evaluation.drawing import coarse, deployable, probit
from priori.words.cautions import cautions
from priori.words.figure_descriptions import describe_figures
from priori.words.headline import ErrorLine, advice, deployment, dots, error_lines, gravest, headline
from priori.words.numbers import alpha_text, clean, counted, level_text, percent, short, unbroken, weighing
from priori.words.sentences import CLAIM_IN_SHORT, describe_settings, heading, verdict
from priori.words.vocabulary import GLOSSARY, TaskWords, task_words

#: The libraries that the page is made with.
NEEDED = ("jinja2", "markupsafe", "matplotlib")
#: The parts of the page's script, in the order in which they need each other.
SCRIPTS = ("state.js", "drawing.js", "figures.js", "report.js")
#: The height of a rank in the slope chart and of a line of its text, in pixels.
RANK, LINE = 6, 15

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment


def environment(*loaders: BaseLoader) -> Environment:
    """Return the templates, autoescaping; ``loaders`` are looked into before our own."""
    require(*NEEDED)
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([*loaders, PackageLoader("priori.report")])
    templates = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters.update(
        clean=clean, short=short, unbroken=unbroken, alpha_text=alpha_text, term=term, anchor=anchor
    )
    return templates


def asset(name: str) -> str:
    """Return the text of one of our own files: the style sheet or the script of the page."""
    return (files("priori.report") / "templates" / name).read_text(encoding="utf-8")


def script() -> str:
    """Return the script of the page: its parts share one scope and leave nothing outside it."""
    return "\n".join(["(async () => {", '"use strict";', *map(asset, SCRIPTS), "})();"])


def render_html(study: Study, *, static: bool = False, nonce: str | None = None) -> str:
    """Return the whole page as text: self-contained, so that no request ever leaves it.

    Parameters
    ----------
    static : bool
        SVG figures and no script at all; small enough to mail anywhere.
    nonce : str, optional
        Put on every script and style element, for a page that a server sends with a content security policy.
        Without one the page carries its own policy, which lets its own scripts run and nothing be fetched.
    """
    context = page_context(study, static=static, nonce=nonce)
    return environment().get_template("report.html").render(**context)


def page_context(study: Study, *, static: bool = False, nonce: str | None = None) -> dict[str, Any]:
    """Return what the template of the page needs, for a server that extends it."""
    from markupsafe import Markup

    scripts: list[Any] = []
    alternatives, sections, known = describe_figures(study), sections_of(study), cautions(study)
    figures: dict[str, Any] = dict.fromkeys(alternatives, "")
    if static:
        from priori.report.figures import static_figures

        figures = {name: Markup(svg) for name, svg in static_figures(study).items()}
    else:
        # Our own files: trusted text that must not be escaped, and holds no end of a script.
        scripts = [Markup(f"\n{script()}\n")]
    return {
        "study": study,
        "title": heading(study),
        "cautions": shown(known),
        "answers": verdict(study).answers,
        "about_sets": about_sets(study),
        "screen": screen_at(study, study.at, known),
        "what_is_shown": what_is_shown(study),
        "measure_meaning": meaning_of(study),
        "tested": bool(study.pairs) and study.pairs[0].significant is not None,
        "first_pair": study.first_pair,
        **slider_words(study),
        "has_limits": any(section.key == "limits" for section, _ in sections),
        "glossary": GLOSSARY,
        "described_settings": describe_settings(study),
        "static": static,
        "nonce": nonce,
        "style": Markup(asset("report.css")),
        "scripts": scripts,
        "policy": None if nonce else _policy(scripts),
        "data": None if static else pack(page_data(study)),
        "figures": figures,
        "moving": moving_tables(study, study.at),
        "fixed": fixed_tables(study),
        "weighing": weighing(study.settings.rule, study.settings.domain, study.settings.alpha),
        "sections": sections,
        "alternatives": alternatives,
        "at": alpha_text(study.settings.alpha),
        "at_interest": alpha_text(study.settings.alpha),
        "unmoved": "" if static else ", wherever the slider stands",
        "level": unbroken(level_text(study.settings.confidence_level)),
        "claim": f"About differences {CLAIM_IN_SHORT[study.settings.claim]}.",
    }


def _policy(scripts: list[Any]) -> str:
    """Return a policy under which only these scripts run and nothing is fetched."""
    hashes = [base64.b64encode(hashlib.sha256(str(text).encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{text}'" for text in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def pack(content: Any) -> str:
    """Return content as a page carries it: JSON, compressed, in letters that mean nothing to HTML.

    Every text is there once for each alpha, so that a page of many systems would be large without.

    Examples
    --------
    >>> unpack(pack({"name": "</script>"}))
    {'name': '</script>'}
    """
    text = json.dumps(plain(content), allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def unpack(text: str) -> Any:
    """Return what was packed, as the page's script does."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def anchor(text: str) -> str:
    """Return a term as an id: small letters and hyphens."""
    return "-".join(re.findall(r"\w+", text.lower()))


def term(text: str) -> Any:
    """Return a term of the glossary as a link to its meaning, which a page also shows on hover and focus."""
    from markupsafe import Markup, escape

    if text not in GLOSSARY:
        return escape(text)
    name = anchor(text)
    return Markup('<a class="term" href="#term-{0}" aria-describedby="meaning-{0}">{1}</a>').format(name, text)


def page_data(study: Study) -> dict[str, Any]:
    """Return everything the scripts of the page need."""
    measure, words = study.settings.shown, slider_words(study)
    ends, own = words["slider_ends"], words["task_words"] if words["own_costs"] else None
    return {
        "at": study.at,
        "alpha": study.curves[0].alpha,
        "level": study.settings.confidence_level,
        "levelText": level_text(study.settings.confidence_level),
        "alphaTitle": "alpha" if ends[0].startswith("alpha") else f"alpha   (0: {ends[0]}; 1: {ends[1]})",
        "pair": study.first_pair,
        "measure": {
            "title": measure.title,
            "name": measure.name,
            "percent": measure.rate,
            "better": measure.greater_is_better,
            "fromZero": measure.rate and not measure.greater_is_better,
        },
        "systems": [_system(member, place in study.matter, own) for place, member in enumerate(study.members)],
        "positives": words["task_words"].positives,
        "many": study.many,
        "matter": study.matter,
        "pairs": [
            {**pair.to_dict(), "spread": None if pair.spread is None else vars(pair.spread)}
            for pair in study.pairs_that_matter
        ],
        "ranking": ranking_data(study),
        "det": _det_axis(study),
        "live": _live(study),
    }


def _short(values: NDArray[Any], digits: int = 6) -> list[float]:
    """Return numbers with the digits that a drawing can show."""
    return [float(f"{number:.{digits}g}") for number in np.asarray(values, dtype=np.float64).tolist()]


def _deviates(x: NDArray[Any], y: NDArray[Any]) -> dict[str, list[float]]:
    return {"x": _short(probit(x), 5), "y": _short(probit(y), 5)}


def _shown_lines(lines: Sequence[ErrorLine]) -> list[list[str]]:
    return [[line.who, line.about, line.fate, line.interval and f"({line.interval})"] for line in lines]


def _steps(member: Member, words: TaskWords | None) -> dict[str, Any] | None:
    """Return the constant pieces of a curve; with ``words`` also what each piece does, for costs of one's own."""
    if (exact := member.steps) is None:
        return None
    drawn = {name: _short(getattr(exact, name), 9) for name in ("alpha", "value", "best")}
    if words is None:
        return drawn
    rates, outcomes = member.rates_at(exact.threshold), exact.outcomes
    lines = [_shown_lines(error_lines(each, words)) for each in rates]
    found = {"far": outcomes.fp / outcomes.negatives, "frr": outcomes.fn / outcomes.positives}
    if "attacks" not in rates[0]:  # else FAR is that of two kinds, each with its own interval
        for name, kind in (("far", "negatives"), ("frr", "positives")):
            for end in ("lower", "upper"):
                found[f"{name}_{end}"] = np.array([getattr(each[kind], end) for each in rates])
    return {
        **drawn,
        "threshold": deployable(exact),
        **{name: _short(values) for name, values in found.items()},
        "lines": [[line[1::2] for line in each] for each in lines],
    }


def _system(member: Member, matters: bool, words: TaskWords | None) -> dict[str, Any]:
    """Return what is drawn of a system; of one that is drawn in grey, thin curves and no scores."""
    curve, band = member.curve, member.band
    shares = {name: _short(share, 4) for name, share in member.histogram.shares().items()}
    outcomes, roc, det = curve.outcomes, member.roc, member.det
    steps = _steps(member, words) if matters else None
    if not matters:
        roc, det = coarse(roc), coarse(det)
    far, frr = outcomes.fp / outcomes.negatives, outcomes.fn / outcomes.positives
    return {
        "name": clean(member.name),
        "short": short(member.name, 40),
        "value": curve.value,
        "best": curve.best,
        "threshold": curve.threshold,
        "devV1": curve.dev_v1,
        "devV2": curve.dev_v2,
        "v1": curve.v1,
        "v2": curve.v2,
        "lower": None if band is None else band.lower,
        "upper": None if band is None else band.upper,
        "counts": vars(outcomes),
        "steps": steps,
        "roc": {"fpr": _short(roc.fpr), "tpr": _short(roc.tpr), "auc": member.auc},
        "rocPoint": {"fpr": _short(far), "tpr": _short(1 - frr)},
        "det": {"fpr": _short(det.fpr), "fnr": _short(det.fnr), **_deviates(det.fpr, det.fnr), "eer": member.eer},
        "detPoint": _deviates(far, frr),
        "scores": {"edges": _short(member.histogram.edges, 8), **shares} if matters else None,
    }


def _det_axis(study: Study) -> dict[str, Any]:
    """Return where the DET axes begin and end: as far as the curves can show, and are worth showing."""
    worst = max(member.eer for member in study.members)
    low, high, ticks = det_axes([member.det for member in study.members], 0.6 if worst < 0.4 else 0.99)
    return {"range": [low, high], "ticks": _short(np.array([*ticks.values()]), 5), "texts": list(ticks)}


def _live(study: Study) -> dict[str, Any]:
    """Return every text that moves with alpha, one entry per alpha."""
    settings, alphas, known = study.settings, study.curves[0].fractions, cautions(study)
    tables: dict[str, dict[str, list[Any]]] = {}
    answers: dict[str, list[str]] = {}
    for index in range(len(alphas)):
        for table in moving_tables(study, index):
            texts = tables.setdefault(table.key, {"cells": [], "systems": []})
            texts["cells"].append([[unbroken(cell) for cell in row[1:]] for row in table.rows])
            if table.key == "leaderboard":
                texts["systems"].append(list(table.systems or ()))
        for answer in verdict(study, index).answers:
            answers.setdefault(answer.key, []).append(unbroken(answer.answer))
    return {
        "alpha": [alpha_text(alpha) for alpha in alphas],
        "weighing": [unbroken(weighing(settings.rule, settings.domain, alpha)) for alpha in alphas],
        "answers": answers,
        "screen": [screen_at(study, index, known) for index in range(len(alphas))],
        "order": [study.order_at(index) for index in range(len(alphas))],
        "dots": [dots(study, index) for index in range(len(alphas))],
        "tables": tables,
    }


# -- the first screen, and the words of its slider ------------------------------------------------------------


def screen_at(study: Study, index: int, known: Sequence[Caution]) -> dict[str, Any]:
    """Return everything that the first screen says at an alpha."""
    answer, deployed, caution = headline(study, index), deployment(study, index), gravest(study, index, known)
    extreme = deployed.threshold in ("inf", "-inf")
    return {
        "headline": unbroken(answer.text),
        "mark": answer.mark,
        "why": unbroken(answer.why),
        "broken": answer.broken,
        "advice": advice(answer),
        "name": deployed.name,
        "threshold": deployed.threshold,
        "extreme": extreme,
        "rule": deployed.rule if extreme else "accept when the score is greater than",
        "lines": _shown_lines(deployed.lines),
        "caution": None if caution is None else [caution.heading, unbroken(caution.sentence)],
    }


def about_sets(study: Study) -> str:
    """Say what thresholds were chosen on and judged on."""
    sets = [study.curves[0].dev, study.curves[0].test]
    users = [scores.n_users for scores in sets]
    counts = [counted(n, "user") for n in users] if all(users) else [counted(len(scores), "trial") for scores in sets]
    return f"thresholds chosen on {counts[0]}, judged on {counts[1]}"


def what_is_shown(study: Study) -> str:
    """Return the title of the first figure."""
    measure, band = study.settings.shown, study.members[0].band
    interval = "" if band is None else f", {level_text(study.settings.confidence_level)} interval"
    return f"What to expect in use: {measure.title}{interval}"


def slider_words(study: Study) -> dict[str, Any]:
    """Return what stands at the ends of the slider, and its presets: the costs of both errors, and words."""
    criterion, words = study.settings.rule.name, task_words(study.settings.domain)
    costs = criterion in ("wer", "pr")
    ends = (f"avoid {words.missing}", f"avoid {words.letting_in}") if costs else ("alpha 0", "alpha 1")
    if criterion in ("target-v1", "target-v2"):
        target = study.settings.domain.v1 if criterion == "target-v1" else study.settings.domain.v2
        ends = (f"{target.title} of {percent(0.0)}", f"{target.title} of {percent(1.0)}")
    tenfold = [
        ((10, 1), f"{words.missing} 10 times worse"),
        ((1, 1), "equal costs"),
        ((1, 10), f"{words.letting_in} 10 times worse"),
    ]
    return {
        "slider_ends": ends,
        "presets": tenfold if criterion == "wer" else [],
        "own_costs": criterion == "wer",
        "task_words": words,
    }


def meaning_of(study: Study) -> str:
    """Return what the measure shown means, in a sentence."""
    title = study.settings.shown.title
    known = {term.lower(): meaning for term, meaning in GLOSSARY.items()}
    return known.get(title.lower(), f"{'higher' if study.settings.shown.greater_is_better else 'lower'} is better.")


# -- what ranks need ------------------------------------------------------------


def ranking_data(study: Study) -> dict[str, Any] | None:
    """Return what the figures of three or more systems need; None of fewer, and where nothing was tested."""
    if study.standings is None or study.ranking is None:
        return None
    # For each alpha a letter per pair: a or b for the one that is significantly better, else a dot.
    tested = study.ranking.verdict
    first = (tested.expected > 0) == study.ranking.greater_is_better
    letters = np.where(tested.significant, np.where(first, "a", "b"), ".")
    return {
        "possible": ["".join("01"[int(could)] for could in column) for column in study.standings[2].T],
        "beats": ["".join(column) for column in letters.T.tolist()] if study.many else None,
        "board": _board(study),
    }


def _board(study: Study) -> dict[str, Any] | None:
    """Return both rankings at the alpha of interest: each row a system, by its number, from best to worst."""
    board = study.board
    if board is None:
        return None
    number = {member.name: place for place, member in enumerate(study.members)}
    ranks = {"before": board.post_rank, "after": board.rank}
    named = named_rows(board, MATRIX_NAMED)
    height = max(RANK * board.system.size, LINE * len(named))
    gap = LINE * board.system.size / height
    return {
        "systems": [number[str(name)] for name in board.system],
        "against": board.settings["against"],
        "gain": [move["gain"] for move in board.moves],
        "significant": [move["significant"] for move in board.moves],
        **ranks,
        "named": named,
        "height": height,
        "at": {side: spread(values[named].astype(np.float64), gap) for side, values in ranks.items()},
        "probability": np.round(board.rank_probability, 3),
    }
