"""The page: one HTML file from one study, and the data it carries for its script."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.extras import require
from priori.base.results import plain
from priori.decisions.measures import FAR, FRR
from priori.plots.curves import det_axes
from priori.report.sections import Sections, sections_of
from priori.report.tables import fixed_tables, moving_tables
from priori.studies.evaluation import Member, Study
from priori.studies.evaluation.drawing import coarse, deployable, few_digits, probit
from priori.studies.evaluation.member import Promise, mixture, rates_at
from priori.studies.evaluation.pairs import Pair
from priori.studies.evaluation.study import FEW
from priori.uncertainty.rates.rate_intervals import RateInterval
from priori.words.cautions import as_shown, cautions
from priori.words.figure_descriptions import describe_figures
from priori.words.headline import advice, chosen_elsewhere, deployment, dots, gravest, headline, promised
from priori.words.numbers import (
    acceptance,
    alpha_text,
    clean,
    counted,
    first_words,
    level_text,
    percent,
    short,
    unbroken,
    weighing,
)
from priori.words.sentences import CLAIM_IN_SHORT, describe_settings, heading, tested_together, verdict
from priori.words.vocabulary import GLOSSARY, RANGES, study_words

#: The libraries that the page is made with.
NEEDED = ("jinja2",)
#: What histograms of scores show.
ABOUT_SCORES = (
    "Share of each class per bin on the test set; dashed, the development set. The upright line is the threshold; "
    "dotted, the best one on the test set, which nobody could have known. The bars show where other development sets "
    "would put it, where the best threshold of the population lies, and which thresholds cost as little on the "
    "development set, within one standard error."
)
#: A rate and its bounds.
RATE = ("rate", "lower", "upper")
#: What a test says of a pair at each alpha, and how many digits of it a figure can show.
TESTED = {"difference": 6, "expected": 6, "lower": 6, "upper": 6, "confidence": 4}
#: Of more pairs than this a page holds the replicates of those with the best system only: they are most of its size.
SPREAD = 3
#: What the script cannot make of the rates itself.
MOVING = ("headline", "mark", "why", "broken", "few", "advice", "promised", "caution")
#: The parts of the page's script, in the order in which they need each other.
SCRIPTS = ("state.js", "drawing.js", "operating.js", "figures.js", "report.js")

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
    whole = "\n".join(["(async () => {", '"use strict";', *map(asset, SCRIPTS), "})();"])
    # Comments and indentation are for who reads the sources: they would be an eighth of the script in every page.
    return re.sub(r"(?m)^[ \t]*(?://.*)?\n|^[ \t]+", "", whole)


def render_html(study: Study, *, nonce: str | None = None) -> str:
    """Return the whole page as text: self-contained, so that no request ever leaves it.

    Parameters
    ----------
    nonce : str, optional
        Put on every script and style element, for a page that a server sends with a content security policy.
        Without one the page carries its own policy, which lets its own script run and nothing be fetched.
    """
    return environment().get_template("report.html").render(**page_context(study, nonce=nonce))


def page_context(study: Study, *, nonce: str | None = None) -> dict[str, Any]:
    """Return what the template of the page needs, for a server that extends it."""
    from markupsafe import Markup

    # Our own files: trusted text that must not be escaped, and holds no end of a script.
    own_script, known, sections = Markup(f"\n{script()}\n"), cautions(study), sections_of(study)
    return {
        "study": study,
        "title": heading(study),
        "cautions": [(caution, *as_shown(study, caution)) for caution in known],
        "answers": verdict(study).answers,
        "about_sets": about_sets(study),
        "screen": screen_at(study, study.at, known),
        "what_is_shown": what_is_shown(study),
        "measure_meaning": meaning_of(study),
        "about_scores": ABOUT_SCORES,
        "tested_together": tested_together(study),
        "tested": bool(study.pairs) and study.pairs[0].significant is not None,
        "first_pair": study.first_pair,
        **slider_words(study),
        "has_limits": bool(study.limits),
        "glossary": GLOSSARY,
        "described_settings": describe_settings(study),
        "nonce": nonce,
        "style": Markup(asset("report.css")),
        "script": own_script,
        "policy": None if nonce else _policy(own_script),
        "data": pack(page_data(study, sections)),
        "moving": moving_tables(study, study.at),
        "fixed": fixed_tables(study),
        "weighing": weighing(study.settings.rule, study.settings.domain, study.settings.alpha),
        "sections": sections,
        "alternatives": describe_figures(study),
        "at": alpha_text(study.settings.alpha),
        "level": unbroken(level_text(study.settings.confidence_level)),
        "claim": f"About differences {CLAIM_IN_SHORT[study.settings.claim]}.",
    }


def _policy(text: str) -> str:
    """Return a policy under which only this script runs and nothing is fetched."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
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


def page_data(study: Study, sections: Sections | None = None) -> dict[str, Any]:
    """Return everything the scripts of the page need; ``sections`` where they are known already."""
    measure, words = study.settings.shown, slider_words(study)
    found = sections_of(study) if sections is None else sections
    ends, said = words["slider_ends"], words["task_words"]
    orders = [study.order_at(index) for index in range(len(study.curves[0].alpha))]
    carded = {*study.matter, *(order[0] for order in orders)}
    listed = {place for order in orders for place in order[:FEW]}
    kinds = dict.fromkeys(kind for place in carded for kind in study.members[place].rates[0])
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
        "systems": [
            _system(member, place in study.matter, place in carded, place in listed)
            for place, member in enumerate(study.members)
        ],
        "kinds": {kind: said.error(kind) for kind in kinds},
        "negatives": said.negatives,
        "users": study.curves[0].test.n_users,
        "mixture": mixture(study.members[0].rates[0]),
        "share": words["share"],
        "acceptance": acceptance(study.curves[0].distances),
        "ranges": RANGES,
        "scored": "distance" if study.curves[0].distances else "score",
        "many": study.many,
        "matter": study.matter,
        "pairs": [_pair(study, pair) for pair in study.pairs_that_matter],
        "ranking": ranking_data(study),
        "det": _det_axis(study),
        "live": _live(study),
        "sections": {section.key: here["drawn"] for section, here in found if here.get("drawn")},
    }


def _pair(study: Study, pair: Pair) -> dict[str, Any]:
    """Return what is drawn of two systems against each other."""
    drawn = {
        name: few_digits(getattr(pair, name), digits)
        for name, digits in TESTED.items()
        if getattr(pair, name) is not None
    }
    bars, spread = None, pair.spread
    if spread and (len(study.pairs_that_matter) <= SPREAD or study.order_at(study.at)[0] in (pair.a, pair.b)):
        bars = {"low": few_digits(spread.low), "high": few_digits(spread.high), "counts": spread.counts}
    return {**pair.to_dict(), **drawn, "spread": bars}


def _deviates(x: NDArray[Any], y: NDArray[Any]) -> dict[str, list[float]]:
    return {"x": few_digits(probit(x), 5), "y": few_digits(probit(y), 5)}


def _rates(rows: Sequence[Mapping[str, RateInterval | Promise]], digits: int = 9) -> dict[str, dict[str, list[float]]]:
    """Return rates with their bounds, each kind of trials a column."""
    return {
        kind: {name: few_digits(np.array([getattr(row[kind], name) for row in rows]), digits) for name in RATE}
        for kind in rows[0]
    }


def _steps(member: Member) -> dict[str, Any] | None:
    """Return the constant pieces of a curve and what each of them does, for costs of one's own."""
    if (exact := member.steps) is None:
        return None
    return {
        **{name: few_digits(getattr(exact, name), 9) for name in ("alpha", "value", "best")},
        "threshold": deployable([exact])[0],
        "far": few_digits(FAR(exact.outcomes), 9),
        "frr": few_digits(FRR(exact.outcomes), 9),
        "rates": _rates(rates_at(exact.test, exact.threshold, [member.level])[0]),
    }


def _card(member: Member) -> dict[str, Any]:
    """Return what a system does to each kind of trials at each alpha, what was promised, and along the scores."""
    return {
        "threshold": member.deployable,
        "rates": _rates(member.rates),
        "promises": _rates(member.promises),
        "ranges": {name: [few_digits(side) for side in sides] for name, sides in member.threshold_ranges.items()},
        "range": [chosen_elsewhere(member, index) for index in range(len(member.curve.alpha))],
        "best": few_digits(member.best_threshold),
        "places": member.cuts,
        "along": _rates(member.rates_along, 6),
    }


def _kept(member: Member) -> dict[str, Any]:
    """Return what was promised of a system, and kept: all that the first screen shows of one that is never the best."""
    kept = {kind: {"rate": few_digits(np.array([row[kind].rate for row in member.rates]))} for kind in member.rates[0]}
    return {"rates": kept, "promises": _rates(member.promises)}


def _system(member: Member, matters: bool, carded: bool, listed: bool) -> dict[str, Any]:
    """Return what is drawn of a system; of one that is drawn in grey, thin curves and no scores."""
    curve, band = member.curve, member.band
    shares = {name: few_digits(share, 4) for name, share in member.histogram.shares().items()}
    outcomes, roc, det = curve.outcomes, member.roc, member.det
    if not matters:
        roc, det = coarse(roc), coarse(det)
    far, frr = FAR(outcomes), FRR(outcomes)
    return {
        "name": clean(member.name),
        "short": short(member.name, 40),
        "value": curve.value,
        "best": curve.best,
        "threshold": curve.columns()["threshold"],
        "devV1": curve.dev_v1,
        "devV2": curve.dev_v2,
        "v1": curve.v1,
        "v2": curve.v2,
        "lower": None if band is None else band.lower,
        "upper": None if band is None else band.upper,
        "counts": vars(outcomes),
        "steps": _steps(member) if matters else None,
        "roc": {"fpr": few_digits(roc.fpr), "tpr": few_digits(roc.tpr)},
        "rocPoint": {"fpr": few_digits(far), "tpr": few_digits(1 - frr)},
        "det": {"fpr": few_digits(det.fpr), "fnr": few_digits(det.fnr), **_deviates(det.fpr, det.fnr)},
        "detPoint": _deviates(far, frr),
        "card": _card(member) if carded else None,
        "kept": _kept(member) if listed and not carded else None,
        "scores": {"edges": few_digits(member.histogram.edges, 8), **shares} if matters else None,
    }


def _det_axis(study: Study) -> dict[str, Any]:
    """Return where the DET axes begin and end: as far as the curves can show, and are worth showing."""
    worst = max(member.roc.eer for member in study.members)
    low, high, ticks = det_axes([member.det for member in study.members], 0.6 if worst < 0.4 else 0.99)
    return {"range": [low, high], "ticks": few_digits(np.array([*ticks.values()]), 5), "texts": list(ticks)}


def _live(study: Study) -> dict[str, Any]:
    """Return every text that moves with alpha, one entry per alpha."""
    settings, alphas, known = study.settings, study.curves[0].fractions, cautions(study)
    tables: dict[str, dict[str, list[Any]]] = {}
    answers: dict[str, list[str]] = {}
    screens = [screen_at(study, index, known) for index in range(len(alphas))]
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
        "screen": [{name: screen[name] for name in MOVING} for screen in screens],
        "order": [study.order_at(index) for index in range(len(alphas))],
        "dots": [dots(study, index) for index in range(len(alphas))],
        "tables": tables,
    }


# -- the first screen, and the words of its slider ------------------------------------------------------------


def screen_at(study: Study, index: int, known: Sequence[Caution]) -> dict[str, Any]:
    """Return everything that the first screen says at an alpha."""
    answer, deployed, caution = headline(study, index), deployment(study, index), gravest(study, index, known)
    extreme = deployed.threshold in ("inf", "-inf")
    grave = None if caution is None else as_shown(study, caution)
    return {
        "headline": unbroken(answer.text),
        "mark": answer.mark,
        "why": unbroken(answer.why),
        "broken": answer.broken,
        "few": answer.few,
        "advice": advice(answer),
        "promised": promised(study, index),
        "name": deployed.name,
        "threshold": deployed.threshold,
        "extreme": extreme,
        "range": chosen_elsewhere(study.best_at(index), index),
        "rule": deployed.rule if extreme else acceptance(study.curves[0].distances),
        "lines": [[one.who, one.about, one.fate, one.interval and f"({one.interval})"] for one in deployed.lines],
        "caution": None if grave is None else [grave[0], unbroken(first_words(grave[1]))],
    }


def about_sets(study: Study) -> str:
    """Say what thresholds were chosen on and judged on."""
    sets = [study.curves[0].dev, study.curves[0].test]
    users = [scores.n_users for scores in sets]
    counts = [counted(n, "user") for n in users] if all(users) else [counted(len(scores), "trial") for scores in sets]
    return study_words(study).said(f"thresholds chosen on {counts[0]}, judged on {counts[1]}")


def what_is_shown(study: Study) -> str:
    """Return the title of the first figure."""
    measure, band = study.settings.shown, study.members[0].band
    interval = "" if band is None else f", {level_text(study.settings.confidence_level)} interval"
    return f"What to expect in use: {measure.title}{interval}"


def slider_words(study: Study) -> dict[str, Any]:
    """Return what stands at the ends of the slider, and its presets: the costs of both errors, and words."""
    criterion, words = study.settings.rule.name, study_words(study)
    costs = criterion in ("wer", "pr")
    ends = (f"avoid {words.missing}", f"avoid {words.letting_in}") if costs else ("alpha 0", "alpha 1")
    if criterion in ("target-v1", "target-v2"):
        target = study.settings.domain.v1 if criterion == "target-v1" else study.settings.domain.v2
        ends = (f"{target.title} of {percent(0.0)}", f"{target.title} of {percent(1.0)}")
    typed = dict(re.findall(r"(fn|fp|prior)=([\d.e+-]+)", study.settings.shown.name))
    share = float(f"{100 * float(typed.get('prior', 0.5)):.6g}")
    shares = {50: "1 in 2", 5: "1 in 20", 0.1: "1 in 1,000", 95: "19 in 20"}
    tenfold = [
        ((10, 1), f"{words.missing} 10 times worse"),
        ((1, 1), "equal costs"),
        ((1, 10), f"{words.letting_in} 10 times worse"),
    ]
    return {
        "slider_ends": ends,
        "presets": tenfold if criterion == "wer" else [],
        "own_costs": criterion == "wer",
        "costs": (typed.get("fn", 1), typed.get("fp", 1)),
        "share": share,
        "shares": shares if share in shares else {share: f"{share:g} %", **shares},
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
    if study.standings is None:
        return None
    possible = ["".join("01"[int(could)] for could in column) for column in study.standings[2].T]
    if (board := study.board) is None or study.many:
        return {"possible": possible, "board": None}
    number = {member.name: place for place, member in enumerate(study.members)}
    # Both rankings at the alpha of interest: each row a system, by its number, from best to worst.
    rows = {
        "systems": [number[str(name)] for name in board.system],
        "against": board.settings["against"],
        "gain": [move["gain"] for move in board.moves],
        "significant": [move["significant"] for move in board.moves],
        "before": board.post_rank,
        "after": board.rank,
        "probability": np.round(board.rank_probability, 3),
    }
    return {"possible": possible, "board": rows}
