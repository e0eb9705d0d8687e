"""People: who makes the errors of the best system, and how its rates differ between groups, at the threshold fixed."""

from __future__ import annotations

from typing import Any

from priori.report.figures import drawn
from priori.report.tables import TextTable
from priori.scores import ScoreSet, condense
from priori.scores.score_set import Role
from priori.studies.evaluation import Study
from priori.studies.evaluation.study import ranks_of
from priori.uncertainty.group_rates import group_rates
from priori.uncertainty.user_rates import FEW_USERS, KINDS, Kind, UserRates, user_rates
from priori.words.numbers import cell, clean, short
from priori.words.people import about_groups, about_users

#: What trials are told apart by, the same wherever the page asks for it: the combinations are then listed once.
PEOPLE: tuple[Role, ...] = ("user", "probe_user", "group")
#: How many users of each kind the page names.
WORST = 10


def users(study: Study) -> dict[str, Any] | None:
    """Return the users of the best system that make most of the errors, where enough users are known."""
    name, test, threshold = _best(study)
    if test.n_users < FEW_USERS:
        return None
    found = user_rates(test, threshold, confidence_level=study.settings.confidence_level)
    return {
        "name": name,
        "threshold": f"{threshold:.6g}",
        "lines": about_users(found).split("\n"),
        "figure": _figure("zoo", found, (5.4, 4.2)),
        "tables": [_worst(found, test["kind"]) for test in found.tests],
    }


def groups(study: Study) -> dict[str, Any] | None:
    """Return the rates of the best system by group, where the groups of the trials are known."""
    name, test, threshold = _best(study)
    known, _ = condense(test, PEOPLE, cuts=[threshold])
    if known.groups is None:
        return None
    found = group_rates(test, threshold, confidence_level=study.settings.confidence_level)
    rates = found.rows("far")["group"].size + found.rows("frr")["group"].size
    rows = []
    for row, what in enumerate(found.what.tolist()):
        numbers = [float(column[row]) for column in (found.value, found.lower, found.upper)]
        shown = [f"{number:.3g}" for number in numbers] if what.startswith("ratio") else [cell(x) for x in numbers]
        group, other = (clean(str(column[row])) for column in (found.group, found.other))
        pair = {"gap": f"{group} minus {other}", "ratio": f"{group} over {other}"}.get(what)
        rows.append((pair or (f"{group} over the geometric mean" if what != "rate" else group),
                     found.rate[row].upper(), *shown, f"{found.trials[row]:,}"))  # fmt: skip
    header = ("Group", "Rate", "Value", "Lower", "Upper", "Trials")
    return {
        "name": name,
        "threshold": f"{threshold:.6g}",
        "lines": about_groups(found).split("\n"),
        "figure": _figure("groups", found, (8.0, 1.4 + 0.3 * rates)),
        "table": TextTable("groups", "Rates by group", header, tuple(rows), words=(1,)),
        "warnings": found.warnings,
    }


def _best(study: Study) -> tuple[str, ScoreSet, float]:
    """Return the best system at the alpha of interest: its name, its test scores, its threshold."""
    ranks = ranks_of(study.curves, study.at)
    best = min(range(len(study.curves)), key=ranks.__getitem__)
    curve = study.curves[best]
    return short(study.members[best].name), curve.test, float(curve.threshold[study.at])


def _figure(name: str, found: Any, size: tuple[float, float]) -> Any:
    from markupsafe import Markup

    return Markup(drawn(name, lambda figure: found.plot(figure.add_subplot()), size))


def _worst(found: UserRates, kind: Kind) -> TextTable:
    worst = found.of_kind(kind, WORST)
    rows = tuple(
        (clean(str(worst["user"][row])), f"{worst['errors'][row]} of {worst['trials'][row]}",
         *(cell(float(worst[name][row])) for name in ("shrunken", "lower", "upper")),
         "yes" if worst["found"][row] else "")
        for row in range(len(worst["user"]))
    )  # fmt: skip
    rate, trials, several = KINDS[kind]
    header = ("User", "Errors", f"{rate.upper()}, shrunken", "Lower", "Upper", f"One of the {several}")
    return TextTable(f"users-{kind}", f"{rate.upper()} of {trials}", header, rows, words=(5,))
