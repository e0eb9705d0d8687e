"""Sections: parts of the page that appear where the data have them; adding one is one entry and one template.

A section's function takes the study and returns what its template needs, or None where there is nothing to show. The
template is given that as ``here``, beside everything the page has: ``study``, ``level``, ``parts``. There
``parts.table(table)`` shows a `TextTable` and ``parts.figure(id, title)`` makes room for a figure of ``figures.js``,
which is drawn of what is returned as ``drawn``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from priori.base.cautions import said_of
from priori.report.tables import MISSING, TextTable, without_missing
from priori.studies.evaluation import Study
from priori.studies.evaluation.drawing import few_digits
from priori.studies.evaluation.particulars import WORST as WORST_ERRORS
from priori.studies.evaluation.particulars import AtLimit, Attacked, CardRow
from priori.uncertainty.costs import CostsTest
from priori.uncertainty.rates.user_rates import ROLES, UserRates, UserRole
from priori.words.numbers import bounds, cell, gap, level_text, money, percent, short, threshold_text
from priori.words.sentences import about_groups, about_users
from priori.words.vocabulary import TaskWords, study_words

#: The kinds of trials.
KINDS = ("positives", "negatives", "attacks")
#: The limit that is shown first, where it can be; with more systems the first few are shown for each.
FIRST_LIMIT, MOST_AT_LIMIT = 0.01, 10
#: How many users in each role the page names.
WORST = 10
#: With more users only some are drawn, since a page holds every one that is drawn.
MOST_DRAWN = 400
#: How the rates under attack are called.
ATTACK_RATES = {"apcer": "APCER", "apcer-max": "largest APCER", "bpcer": "BPCER", "acer": "ACER"}


def limits(study: Study) -> dict[str, Any] | None:
    """Return a table for each limit of the FAR that the development trials can show; None without such trials."""
    if not study.limits:
        return None
    level = level_text(study.settings.confidence_level)
    return {
        "tables": {percent(limit): _at_limit(limit, rows, level) for limit, rows in study.limits.items()},
        "first": percent(FIRST_LIMIT if FIRST_LIMIT in study.limits else next(iter(study.limits))),
    }


def _at_limit(limit: float, systems: list[AtLimit], level: str) -> TextTable:
    rows = []
    for one in systems[:MOST_AT_LIMIT]:
        rates = [
            text for rate in (one.frr, one.far) for text in (cell(rate.rate), bounds(rate.lower, rate.upper, True))
        ]
        rows.append((short(one.name), threshold_text(one.threshold), *rates))
    note = (
        f"Thresholds accept at most {percent(limit)} of the development negatives (criterion at-most-far); rates are "
        "those of the test set, where the FAR may be above the limit."
        + (" Sorted by FRR; differences are not tested here." if len(systems) > 1 else "")
    )
    return TextTable(
        f"limit-{limit:g}".replace(".", "-"),
        f"FRR at a FAR of at most {percent(limit)}",
        ("System", "Threshold", "FRR", level, "FAR", level),
        tuple(rows),
        note,
        groups=(("", 1), ("Test", 4)),
    )


def calibration(study: Study) -> dict[str, Any] | None:
    """Return a table of Cllr, its minimum and the loss between; None unless the criterion sets thresholds by theory."""
    if not study.calibration:
        return None
    rows = []
    for name, costs in study.calibration:
        cllr, least, loss = (f"{value:.3f}" for value in costs.value)
        rows.append((short(name), cllr, f"{costs.lower[0]:.3f} to {costs.upper[0]:.3f}", least, loss))
    level = level_text(study.settings.confidence_level)
    note = (
        "In bits: 0 is perfect, 1 is what knowing nothing costs. The minimum, of the best rising map of the same "
        "scores, is a posteriori: it is too low and the loss too high, so neither has an interval."
    )
    header = ("System", "Cllr", level, "Minimum", "Loss")
    table = TextTable("calibration", "Costs as log-likelihood ratios", header, tuple(rows), note)
    return {"table": table, "method": study.calibration[0][1].calibrate}


def priced(study: Study) -> dict[str, Any] | None:
    """Return a table of what decisions cost by the amounts of their trials, where it was asked for."""
    if not study.priced:
        return None
    first, level = study.priced[0].costs, level_text(study.settings.confidence_level)
    rows = []
    for costs, test in study.priced:
        per_thousand = [money(1000 * end) for end in (costs.value, costs.lower, costs.upper)]
        more = MISSING if test is None else _dearer(test)
        constant = (money(1000 * costs.accept_all), money(1000 * costs.reject_all))
        threshold = f"{costs.columns()['threshold'][0]:.6g}"
        rows.append((short(costs.name), threshold, per_thousand[0], " to ".join(per_thousand[1:]), *constant, more))
    unit = f" ({first.currency})" if first.currency else ""
    header = ("System", "Threshold", f"Per 1,000{unit}", level, "All accepted", "All rejected", "Minus the cheapest")
    table = TextTable("amounts", "Costs of 1,000 decisions on the test set", header, tuple(rows), words=(6,))
    return {
        "own": first.false_positive == "amount",
        "price": f"{first.false_positive} {first.currency}".strip(),
        "table": without_missing(table),
        "warnings": [said_of(short(costs.name), line) for costs, _ in study.priced for line in costs.warnings],
    }


def _dearer(test: CostsTest) -> str:
    ends = (test.difference, test.lower, test.upper)
    difference, lower, upper = (money(1000 * float(end[0])).replace("-", "−") for end in ends)
    verdict = "dearer" if test.significant[0] else "cannot tell"
    return f"{difference} ({lower} to {upper}): {verdict}"


def settling(study: Study) -> dict[str, Any] | None:
    """Return how many users or trials would tell the best two systems apart, where this study does not."""
    if (known := study.settling) is None:
        return None
    have = study.curves[0].test
    sizes = [("This study", have.n_users, have.n_negatives, have.n_positives)]
    sizes += [
        (f"Finds it {percent(one.power or 0)} of the time", one.users or 0, one.negatives, one.positives)
        for one in known.plans
    ]
    header = ("Study", study_words(study).said("Users"), "Negatives", "Positives")
    rows = tuple(
        (name, f"{users:,}" if users else MISSING, f"{negatives:,}", f"{positives:,}")
        for name, users, negatives, positives in sizes
    )
    return {
        "names": [short(name) for name in known.names],
        "difference": gap(known.difference, study.settings.shown),
        "grows": known.plans[0].assumptions["claim"] == "method",
        "table": without_missing(TextTable("settling", "How many it takes", header, rows)),
        # The page draws users where it knows them.
        "warnings": [line for line in known.plans[0].warnings if getattr(line, "code", "") != "users-unused"],
    }


def users(study: Study) -> dict[str, Any] | None:
    """Return the users of the best system that make most of the errors, where enough users are known."""
    if (found := study.users) is None:
        return None
    words = study_words(study)
    return {
        **_of_best(study, found, about_users(found)),
        "tables": [_worst(found, about["role"], words) for about in found.roles],
        "drawn": {"system": study.best_at(study.at).name, "people": words.people, "roles": _roles(found)},
    }


def _roles(found: UserRates) -> list[dict[str, Any]]:
    """Return the rates of the users by role, the highest lower bound first; of many users some."""
    roles = []
    for about in found.roles:
        rate, rows = about["rate"].upper(), found.of_role(about["role"])
        drawn = np.unique(np.linspace(0, about["users"] - 1, min(about["users"], MOST_DRAWN)).astype(int))
        # Whose negatives they are needs a word only where users are impostors of others too.
        name = f"{rate}, {about['role']}" if len(found.roles) == len(ROLES) else rate
        numbers = {column: few_digits(rows[column][drawn], 4) for column in ("rate", "lower", "upper")}
        roles.append({"name": name, "place": drawn + 1, **numbers, "overall": about["overall"]})
    return roles


def _worst(found: UserRates, role: UserRole, words: TaskWords) -> TextTable:
    worst = found.of_role(role, WORST)
    rows = tuple(
        (
            short(str(worst["user"][row]), 60),
            f"{worst['errors'][row]:,} of {worst['trials'][row]:,}",
            cell(float(worst["rate"][row])),
            bounds(worst["lower"][row], worst["upper"][row], True),
            "yes" if worst["above"][row] else "",
        )
        for row in range(len(worst["user"]))
    )
    rate, trials = ROLES[role]
    header = (words.said("User"), "Errors", rate.upper(), level_text(found.confidence_level), "Above all")
    return TextTable(f"users-{role}", f"{rate.upper()} of {words.said(trials)}", header, rows, words=(4,))


def groups(study: Study) -> dict[str, Any] | None:
    """Return the rates of the best system by group, where the groups of the trials are known."""
    if (found := study.groups) is None:
        return None
    rows = []
    for row, what in enumerate(found.what.tolist()):
        number, lower, upper = (float(column[row]) for column in (found.value, found.lower, found.upper))
        is_rate = what not in ("ratio", "ratio-to-mean", "fdr", "garbe")
        shown = (cell(number) if is_rate else f"{number:.3g}", bounds(lower, upper, is_rate))
        group, other = (short(str(column[row]), 60) for column in (found.group, found.other))
        about = {
            "rate": group,
            "gap": f"{group} minus {other}",
            "ratio": f"{group} over {other}",
            "ratio-to-mean": f"{group} over the geometric mean",
            "worst": f"worst group ({group})",
        }
        rows.append((about.get(what, what.upper()), found.rate[row].upper(), *shown, f"{found.trials[row]:,}"))
    header = ("Group", "Rate", "Value", level_text(found.confidence_level), "Trials")
    return {
        **_of_best(study, found, about_groups(found)),
        "table": TextTable("groups", "Rates of each group", header, tuple(rows), words=(1,)),
        "warnings": found.warnings,
    }


def _of_best(study: Study, found: Any, said: str) -> dict[str, Any]:
    """Return what is said of people at the threshold of the best system."""
    accepting = f"{'distances below' if found.distances else 'scores above'} {found.summary()['threshold']:.6g}"
    lines = study_words(study).said(said).split("\n")
    return {"name": short(study.best_at(study.at).name), "accepting": accepting, "lines": lines}


def card(study: Study) -> dict[str, Any] | None:
    """Return the rates of the best system for each kind of trials, attack and group, the worst of a kind marked."""
    if not (found := study.report_card):
        return None
    words, name = study_words(study), short(study.best_at(study.at).name)
    worst = [
        max((row for row in found if row.kind == kind and row.name), default=None, key=lambda row: row.rate)
        for kind in KINDS
    ]
    drawn = [
        {**row._asdict(), "name": _card_name(row, words), "whole": not row.name, "worst": row in worst} for row in found
    ]
    rows = tuple(
        (
            row["name"],
            words.error(row["kind"])[1],
            cell(row["rate"]),
            bounds(row["lower"], row["upper"], True),
            "yes" if row["worst"] else "",
        )
        for row in drawn
    )
    header = ("Trials", "Error", "Rate", level_text(study.settings.confidence_level), "Worst")
    table = TextTable("card", "Rates of each kind", header, rows, words=(1, 4))
    return {"name": name, "table": table, "drawn": {"system": name, "rows": drawn}}


def errors(study: Study) -> dict[str, Any] | None:
    """Return tables of the trials that the best system decides most wrongly."""
    if not (found := study.worst_errors):
        return None
    place = study.order_at(study.at)[0]
    words, curve = study_words(study), study.curves[place]
    tables = []
    for kind, trials in found.items():
        who, fate = words.error(kind)
        rows = tuple(
            (
                short(one.trial, 80),
                *(short(text, 80) if text.strip() else MISSING for text in one[1:4]),
                f"{one.score:.6g}",
                f"{one.margin:.4g}",
            )
            for one in trials
        )
        header = (
            "Trial",
            words.said("User"),
            "Who was there",
            "Attack or group",
            "Distance" if curve.distances else "Score",
            "Wrong by",
        )
        title = f"{who[:1].upper()}{who[1:]} that {fate}"
        tables.append(without_missing(TextTable(f"errors-{kind}", title, header, rows, words=(1, 2, 3))))
    return {"name": short(curve.name), "tables": tables, "place": place, "most": WORST_ERRORS}


def _card_name(row: CardRow, words: TaskWords) -> str:
    """Return who a rate is about; the FAR of a group is that of its impostors and attacks together."""
    if not row.name:
        return words.error(row.kind)[0]
    return f"{words.negatives if row.kind == 'negatives' else words.error(row.kind)[0]}: {short(row.name)}"


def attacks(study: Study) -> dict[str, Any] | None:
    """Return the EPSC of the systems whose sets have impostors and attacks, and the rates of every type of attacks."""
    if not study.attacked:
        return None
    drawn = []
    for one in study.attacked:
        if one.curve is not None:
            columns = (one.band or one.curve).columns()
            names = ("omega", "value", "iapmr", "lower", "upper")
            drawn.append({"place": one.system, **{name: columns.get(name) for name in names}})
    return {
        "shares": _shares(study.attacked) if drawn else None,
        "types": _types(study.attacked),
        "unseen": sorted({short(kind) for one in study.attacked for kind in one.rates.unseen}),
        "drawn": drawn or None,
    }


def _shares(systems: list[Attacked]) -> TextTable:
    rows, numbers = [], []
    for one in systems:
        if (curve := one.curve) is None:
            continue
        between = {} if one.band is None else one.band.columns()
        thresholds = 0.0 - curve.threshold if curve.test.distances else curve.threshold
        for row, omega in enumerate(curve.omega):
            interval = bounds(between["lower"][row], between["upper"][row], True) if between else MISSING
            rates = (cell(rate[row]) for rate in (curve.far, curve.frr, curve.iapmr, curve.value))
            rows.append((f"{short(curve.name)}, omega {omega:g}", f"{thresholds[row]:.4g}", *rates, interval))
            numbers.append(one.system)
    header = ("System and share of attacks", "Threshold", "FAR", "FRR", "IAPMR", "HTER_omega", "Interval")
    return TextTable("epsc", "Error rates by the share of attacks", header, tuple(rows), systems=tuple(numbers))


def _types(systems: list[Attacked]) -> TextTable:
    rows, numbers = [], []
    for one in systems:
        here = one.rates.point == one.rates.point[0]
        columns = (getattr(one.rates, name)[here] for name in ("measure", "attack", "rate", "lower", "upper"))
        for measure, attack, rate, lower, upper in zip(*columns, strict=True):
            named = (short(one.rates.name), ATTACK_RATES[measure], short(attack) if attack else MISSING)
            rows.append((*named, cell(rate), bounds(lower, upper, True)))
            numbers.append(one.system)
    header = ("System", "Rate", "Type of attack", "Value", "Interval")
    return TextTable(
        "attack-types", "Attacks accepted, by type", header, tuple(rows), words=(1, 2), systems=tuple(numbers)
    )


@dataclass(frozen=True)
class Section:
    """A part of the page: ``key`` is its place in a link and the name of its partial in ``templates/sections``."""

    key: str
    title: str
    context: Callable[[Study], dict[str, Any] | None]

    @property
    def template(self) -> str:
        """The partial that shows it."""
        return f"sections/{self.key}.html"


#: In the order of the page, after the curves.
SECTIONS: tuple[Section, ...] = (
    Section("limits", "With a limit on one rate", limits),
    Section("calibration", "Calibration", calibration),
    Section("amounts", "What errors cost by their amounts", priced),
    Section("settling", "What would settle it", settling),
    Section("card", "Report card", card),
    Section("groups", "Rates by group", groups),
    Section("users", "Who makes the errors", users),
    Section("errors", "Which trials went furthest wrong", errors),
    Section("attacks", "Under attack", attacks),
)


#: The sections that the data have, each with what its template needs.
Sections = list[tuple[Section, dict[str, Any]]]


def sections_of(study: Study) -> Sections:
    """Return the sections that the data have, each with what its template needs."""
    found = ((section, section.context(study)) for section in SECTIONS)
    return [(section, context) for section, context in found if context is not None]
