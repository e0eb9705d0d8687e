"""Sections: parts of the page that appear where the data have them; adding one is one entry and one template.

A section's function takes the study and returns what its template needs, or None where there is nothing to show. The
template is given that as ``here``, beside everything the page has: ``study``, ``static``, ``level``, ``parts``
(``parts.table(table, static)`` shows a `TextTable`). Figures are the same with scripts and without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priori.plots.curves import plot_epsc
from priori.report.figures import drawn
from priori.report.tables import MISSING, TextTable
from priori.studies.evaluation import Study
from priori.studies.evaluation.particulars import AtLimit, Attacked
from priori.uncertainty.rates.user_rates import ROLES, UserRates, UserRole
from priori.words.numbers import bounds, cell, clean, gap, level_text, percent, short, threshold_text
from priori.words.sentences import about_groups, about_users
from priori.words.vocabulary import task_words

#: The limit that is shown first, where it can be; of more systems the first so many are shown for each.
FIRST_LIMIT, MOST_AT_LIMIT = 0.01, 10
#: How many users in each role the page names.
WORST = 10
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
        "words": task_words(study.settings.domain),
    }


def _at_limit(limit: float, systems: list[AtLimit], level: str) -> TextTable:
    rows = []
    for one in systems[:MOST_AT_LIMIT]:
        rates = [
            text for rate in (one.frr, one.far) for text in (cell(rate.rate), bounds(rate.lower, rate.upper, True))
        ]
        rows.append((short(one.name), threshold_text(one.threshold), *rates))
    note = (
        f"Thresholds let in at most {percent(limit)} of the development negatives (criterion at-most-far); rates are "
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
    rows = tuple(
        (name, f"{users:,}" if users else MISSING, f"{negatives:,}", f"{positives:,}")
        for name, users, negatives, positives in sizes
    )
    return {
        "names": [short(name) for name in known.names],
        "difference": gap(known.difference, study.settings.shown),
        "grows": known.plans[0].assumptions["development"] == "grow",
        "table": TextTable("settling", "How many it takes", ("Study", "Users", "Negatives", "Positives"), rows),
        # The page draws users where it knows them.
        "warnings": [line for line in known.plans[0].warnings if getattr(line, "code", "") != "users-matter"],
    }


def users(study: Study) -> dict[str, Any] | None:
    """Return the users of the best system that make most of the errors, where enough users are known."""
    if (found := study.users) is None:
        return None
    return {
        **_of_best(study, "users", found, about_users(found), (5.4, 4.2)),
        "tables": [_worst(found, about["role"]) for about in found.roles],
    }


def _worst(found: UserRates, role: UserRole) -> TextTable:
    worst = found.of_role(role, WORST)
    rows = tuple(
        (
            clean(str(worst["user"][row])),
            f"{worst['errors'][row]} of {worst['trials'][row]}",
            *(cell(float(worst[name][row])) for name in ("shrunken", "lower", "upper")),
            "yes" if worst["above"][row] else "",
        )
        for row in range(len(worst["user"]))
    )
    rate, trials = ROLES[role]
    header = ("User", "Errors", f"{rate.upper()}, shrunken", "Lower", "Upper", "Above all")
    return TextTable(f"users-{role}", f"{rate.upper()} of {trials}", header, rows, words=(5,))


def groups(study: Study) -> dict[str, Any] | None:
    """Return the rates of the best system by group, where the groups of the trials are known."""
    if (found := study.groups) is None:
        return None
    rows = []
    for row, what in enumerate(found.what.tolist()):
        numbers = [float(column[row]) for column in (found.value, found.lower, found.upper)]
        shown = [f"{number:.3g}" for number in numbers] if what.startswith("ratio") else [cell(x) for x in numbers]
        group, other = (clean(str(column[row])) for column in (found.group, found.other))
        pair = {"gap": f"{group} minus {other}", "ratio": f"{group} over {other}"}.get(what)
        rows.append(
            (
                pair or (f"{group} over the geometric mean" if what != "rate" else group),
                found.rate[row].upper(),
                *shown,
                f"{found.trials[row]:,}",
            )
        )
    header = ("Group", "Rate", "Value", "Lower", "Upper", "Trials")
    tall = 1.4 + 0.3 * int(np.count_nonzero(found.what == "rate"))
    return {
        **_of_best(study, "groups", found, about_groups(found), (8.0, tall)),
        "table": TextTable("groups", "Rates by group", header, tuple(rows), words=(1,)),
        "warnings": found.warnings,
    }


def _of_best(study: Study, name: str, found: Any, said: str, size: tuple[float, float]) -> dict[str, Any]:
    """Return what is said of people at the threshold of the best system, and the figure of it."""
    from markupsafe import Markup

    figure = Markup(drawn(name, lambda made: found.plot(made.add_subplot()), size))
    best = short(study.members[study.order_at(study.at)[0]].name)
    return {"name": best, "threshold": f"{found.threshold:.6g}", "lines": said.split("\n"), "figure": figure}


def attacks(study: Study) -> dict[str, Any] | None:
    """Return the EPSC of the systems whose sets have impostors and attacks, and the rates of every type of attacks."""
    if not study.attacked:
        return None
    results: list[Any] = [one.band or one.curve for one in study.attacked if one.curve is not None]
    shown = [replace(result, name=short(result.name)) for result in results]
    figure = drawn("epsc", lambda made: plot_epsc(shown, ax=made.add_subplot()), (7.0, 3.6)) if shown else ""
    return {
        "figure": figure,
        "shares": _shares(study.attacked) if shown else None,
        "types": _types(study.attacked),
        "unseen": sorted({kind for one in study.attacked for kind in one.rates.unseen}),
    }


def _shares(systems: list[Attacked]) -> TextTable:
    rows, numbers = [], []
    for one in systems:
        if (curve := one.curve) is None:
            continue
        between = {} if one.band is None else one.band.columns()
        for row, omega in enumerate(curve.omega):
            interval = f"{cell(between['lower'][row])} to {cell(between['upper'][row])}" if between else MISSING
            rates = (cell(rate[row]) for rate in (curve.far, curve.frr, curve.iapmr, curve.value))
            rows.append((f"{short(curve.name)}, omega {omega:g}", f"{curve.threshold[row]:.4g}", *rates, interval))
            numbers.append(one.system)
    header = ("System and share of attacks", "Threshold", "FAR", "FRR", "IAPMR", "HTER_omega", "Interval")
    return TextTable("epsc", "Error rates by the share of attacks", header, tuple(rows), systems=tuple(numbers))


def _types(systems: list[Attacked]) -> TextTable:
    rows, numbers = [], []
    for one in systems:
        here = one.rates.point == one.rates.point[0]
        columns = (getattr(one.rates, name)[here] for name in ("measure", "attack", "rate", "lower", "upper"))
        for measure, attack, rate, lower, upper in zip(*columns, strict=True):
            interval = f"{cell(lower)} to {cell(upper)}"
            rows.append((short(one.rates.name), ATTACK_RATES[measure], short(attack), cell(rate), interval))
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
    Section("settling", "What would settle it", settling),
    Section("groups", "Rates by group", groups),
    Section("users", "Who makes the errors", users),
    Section("attacks", "Under attack", attacks),
)


def sections_of(study: Study) -> list[tuple[Section, dict[str, Any]]]:
    """Return the sections that the data have, each with what its template needs."""
    found = ((section, section.context(study)) for section in SECTIONS)
    return [(section, context) for section, context in found if context is not None]
