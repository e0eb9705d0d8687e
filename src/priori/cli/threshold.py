"""``priori threshold``, ``priori rates``: choose a threshold, and see what one gives; by group, or by user."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import priori
from priori.base.alphas import as_fractions
from priori.base.cautions import Caution
from priori.base.errors import FewUsersError, OptionError
from priori.base.texts import cell as percent
from priori.base.types import Floats
from priori.cli.commands import Judging, judging, make_command, output_group
from priori.cli.options import options
from priori.cli.output import Output, table_of, table_text
from priori.cli.systems import one_set
from priori.curves.checks import set_cautions, threshold_cautions
from priori.decisions.costs import price, shifted
from priori.decisions.criteria import get_criterion
from priori.decisions.measure import Ratio
from priori.decisions.measures import MEASURES
from priori.decisions.tasks import get_task
from priori.scores import ScoreSet
from priori.uncertainty.rates.rate_intervals import RATE_TITLES, Rate
from priori.uncertainty.rates.user_rates import ROLES
from priori.words.sentences import about_groups, about_users

#: Reads the one set of scores that a command is about, with further columns.
OneSet = Callable[..., ScoreSet]
#: A rate with the ends of its interval, at each threshold.
Limits = tuple[Floats, Floats, Floats]
#: How many users in each role a table shows.
WORST = 10


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise OptionError(f"--threshold {text!r} is not a number (inf and -inf are)")
    return value


@make_command("threshold", one_set("dev"), judging(measure=False), output_group())
def threshold(read: OneSet, judging: Judging, output: Output) -> None:
    """Print the threshold that minimises the criterion on DEV, and the rates it has there.

    A trial is accepted when its score is greater than the threshold.

    \b
    Examples:
      priori threshold dev.csv --alpha 0.5
      priori threshold dev.csv --criterion at-most-far --alpha 0.01
      priori threshold dev.csv --criterion at-most-far:0.95 --alpha 0.01
      priori threshold --system A a-dev.csv a-test.csv --criterion eer
      priori threshold dev.csv --costs fn=10,fp=1 --prior 0.01
    """
    domain = get_task(judging.task)
    settings = judging.at_alpha()
    rule, v1, v2 = get_criterion(judging.criterion, domain), domain.v1, domain.v2
    fractions = as_fractions(settings["alpha"])
    scores = read()
    choice, alphas = rule.choose(scores, fractions), np.array([float(fraction) for fraction in fractions])
    columns: dict[str, Any] = {
        "alpha": alphas.tolist(),
        "threshold": choice.threshold,
        "dev_v1": v1(choice.outcomes),
        "dev_v2": v2(choice.outcomes),
    }
    headings = {"alpha": "alpha", "threshold": "threshold", "dev_v1": f"dev {v1.name}", "dev_v2": f"dev {v2.name}"}
    if judging.costs is not None:
        columns["dev_cost"], headings["dev_cost"] = settings["measure"](choice.outcomes), "dev cost"
    chosen = {"task": domain.name, "criterion": rule.name, "v1_name": v1.name, "v2_name": v2.name}
    title = f"Threshold by {rule.name}; accept when the score is greater"
    output.finish(
        table=lambda: table_of(title, columns, headings, threshold="{:.10g}".format, dev_cost="{:.5g}".format),
        csv=lambda: columns,
        json=lambda: {**chosen, "outcomes": choice.outcomes.to_dict(), **columns},
        warnings=threshold_cautions(rule, scores, alphas, choice),
    )


@make_command(
    "rates",
    one_set("test"),
    *options("threshold by costs prior fte level"),
    output_group(plot="Draw the rates of groups or users, with --by"),
)
def rates(
    read: OneSet,
    threshold: tuple[str, ...],
    by: str | None,
    costs: str | None,
    prior: str | None,
    fte: str | None,
    level: float,
    output: Output,
) -> None:
    """Print outcomes and all measures on TEST at threshold X.

    Rates of one class have an interval, which takes users into account if they are known. NaN scores
    that count as rejected (--nan reject) are failures to acquire: FMR and FNMR leave them out, FAR and FRR do not
    (ISO/IEC 19795-1).

    \b
    Examples:
      priori rates test.csv --threshold 0.25
      priori rates test.csv --threshold 0.25 --threshold 0.5 --format csv
      priori rates test.csv --threshold 0.25 --by sex
      priori rates test.csv --threshold 0.25 --by user --plot users.svg
      priori rates test.csv --threshold 0.25 --prior 0.01
      priori rates test.csv --threshold 0.25 --costs fn=100,fp=1 --prior 0.01
    """
    thresholds = [_number(text) for text in threshold]
    if by is not None:
        if len(thresholds) != 1 or any(each is not None for each in (fte, costs, prior)):
            raise OptionError("--by goes with one --threshold, and without --fte, --costs and --prior")
        _by_people(read, thresholds[0], by, level, output)
        return
    if output.plot:
        raise OptionError("--plot draws groups or users: add --by COLUMN")
    enrolled = None if fte is None else _enrolled(fte, level)
    scores = read()
    outcomes = priori.count(scores, thresholds)
    measures = {name: measure for name, measure in MEASURES.items() if not measure.needs_alpha}
    if prior is not None:
        measures = {name: shifted(measure, prior) for name, measure in measures.items()}
    if costs is not None:
        measures["cost"] = price("authentication", None, None, None, costs, prior).measure
    values = {name: measure(outcomes) for name, measure in measures.items()}
    counts = {"tp": outcomes.tp, "fp": outcomes.fp, "tn": outcomes.tn, "fn": outcomes.fn}
    limits, warnings = _limits(scores, thresholds, level, enrolled)
    numbers = {name: value for name, (value, _, _) in limits.items() if name not in values}
    ends = {
        f"{name}_{end}": each
        for name, (_, *both) in limits.items()
        for end, each in zip(("lower", "upper"), both, strict=True)
    }
    columns: dict[str, Any] = {"threshold": thresholds, **counts, **values, **numbers, **ends}

    def table() -> str:
        rows = [[name, *(str(value) for value in number.tolist())] for name, number in counts.items()]
        # Without failures to acquire FMR and FNMR are FAR and FRR.
        beside = [name for name in numbers if scores.nan_rejected or name not in ("fmr", "fnmr", "fta")]
        for name in ("far", "frr", *beside, *(name for name in values if name not in ("far", "frr"))):
            title, rate = (measures[name].title, measures[name].rate) if name in values else (TITLES[name], True)
            rows.append([f"{title} ({name})", *_cells(columns[name], limits.get(name), rate)])
        header = ["accept when score >", *(f"{value:.6g}" for value in thresholds)]
        return table_text("", header, rows, note=_note(level, scores))

    output.finish(table=table, csv=lambda: columns, json=lambda: columns, warnings=(*set_cautions(scores), *warnings))


#: What the rates beside the measures are called.
TITLES: dict[str, str] = {
    **{str(rate): title for rate, title in RATE_TITLES.items()},
    "fte": "Failure-to-enrol rate",
    "gfar": "Generalised FAR",
    "gfrr": "Generalised FRR",
}


def _enrolled(typed: str, level: float) -> Limits:
    """Return the failure-to-enrol rate and its interval from FAILED/PEOPLE."""
    failed, slash, people = typed.partition("/")
    if not (slash and failed.strip().isdigit() and people.strip().isdigit() and 0 <= int(failed) <= int(people) > 0):
        raise OptionError(f"--fte {typed!r}: write how many people of how many could not enrol, for example 3/200")
    found = priori.proportion_interval(int(failed), int(people), confidence_level=level)
    return np.atleast_1d(found.rate), np.atleast_1d(found.lower), np.atleast_1d(found.upper)


def _limits(
    scores: ScoreSet, thresholds: Sequence[float], level: float, enrolled: Limits | None
) -> tuple[dict[str, Limits], list[str]]:
    """Return the rates that have an interval, by name, and warnings about them."""
    warnings: list[str] = []

    def found(rate: Rate) -> Limits:
        try:
            each = [priori.rate_interval(scores, number, rate=rate, confidence_level=level) for number in thresholds]
        except FewUsersError as error:
            each = [priori.rate_interval(scores, number, rate=rate, dependence="none") for number in thresholds]
            warnings.append(Caution("few-units", f"no interval of the {rate.upper()}: {error}"))
            nothing = np.full(len(thresholds), np.nan)
            return np.array([one.rate for one in each]), nothing, nothing
        rates, lower, upper = (np.array([getattr(one, name) for one in each]) for name in ("rate", "lower", "upper"))
        return rates, lower, upper

    of_class = {"negative": found("far"), "positive": found("frr")}
    limits: dict[str, Limits] = {}
    for name, measure in MEASURES.items():
        if isinstance(measure, Ratio) and measure.of_class:
            value, lower, upper = of_class[measure.of_class]
            limits[name] = (1 - value, 1 - upper, 1 - lower) if measure.greater_is_better else (value, lower, upper)
    # Without a failure there is nothing to leave out.
    failed = bool(scores.nan_rejected)
    limits["fmr"], limits["fnmr"] = (found("fmr"), found("fnmr")) if failed else (limits["far"], limits["frr"])
    nothing = np.zeros(len(thresholds))
    limits["fta"] = found("fta") if failed else (nothing, nothing, np.full(len(thresholds), np.nan))
    if enrolled is not None:
        limits |= _generalised(limits["far"], limits["frr"], enrolled)
    return limits, warnings


def _generalised(far: Limits, frr: Limits, enrolled: Limits) -> dict[str, Limits]:
    """Return the rates of everybody, also of those who could not enrol (ISO/IEC 19795-1).

    The limits are those at the ends of both intervals: wide enough whatever the two share.
    """
    rate, lower, upper = (end + np.zeros_like(far[0]) for end in enrolled)
    return {
        "fte": (rate, lower, upper),
        "gfar": (far[0] * (1 - rate), far[1] * (1 - upper), far[2] * (1 - lower)),
        "gfrr": (rate + frr[0] * (1 - rate), lower + frr[1] * (1 - lower), upper + frr[2] * (1 - upper)),
    }


def _cells(value: Floats, limits: Limits | None, rate: bool = True) -> list[str]:
    if limits is None or np.isnan(limits[2]).any():
        return [percent(number, rate) for number in value]
    ends = zip(value, limits[1], limits[2], strict=True)
    return [f"{percent(number)} ({percent(lower)} to {percent(upper)})" for number, lower, upper in ends]


def _note(level: float, scores: ScoreSet) -> str:
    by = "by user" if scores.has_users else "trials treated as independent"
    text = f"({100 * level:g} % intervals, {by})"
    if scores.nan_rejected:
        text += (
            "\nFailures to acquire are rejected in FAR and FRR and left out of FMR and FNMR: FAR = FMR (1 - FTA), "
            "FRR = FTA + FNMR (1 - FTA), each with the FTA of its class."
        )
    return text


# -- by group, by user -----------------------------------------------------------------------------------------------


def _by_people(read: OneSet, threshold: float, by: str, level: float, output: Output) -> None:
    """Print the rates of groups, or of users."""
    found: priori.GroupRates | priori.UserRates
    if by == "user":
        scores = read()
        found = priori.user_rates(scores, threshold, confidence_level=level)
        table = partial(_users_table, found)
    else:
        scores = read(group=by)
        rates: tuple[Rate, ...] = ("far", "frr", "fmr", "fnmr", "fta") if scores.nan_rejected else ("far", "frr")
        found = priori.group_rates(scores, threshold, rates=rates, by=by, confidence_level=level)
        table = partial(_groups_table, found)
    output.finish(found, table=table, warnings=(*set_cautions(scores), *found.warnings))


def _groups_table(found: priori.GroupRates) -> str:
    rows = []
    for row, what in enumerate(found.what.tolist()):
        ratio = what.startswith("ratio")
        name = f"{found.rate[row].upper()}, {_WHAT.get(what, '')}{found.group[row]}"
        name += {"gap": f" - {found.other[row]}", "ratio": f" / {found.other[row]}"}.get(what, "")
        numbers = (float(column[row]) for column in (found.value, found.lower, found.upper))
        shown = [f"{number:.3g}" if ratio else percent(number) for number in numbers]
        rows.append([name, *shown, f"{found.errors[row]}", f"{found.trials[row]}", f"{found.people[row] or '-'}"])
    title = f"Error rates by {found.by}, accept when score > {found.threshold:.6g}"
    header = ["rate and group", "value", "lower", "upper", "errors", "trials", "users"]
    return table_text(title, header, rows, note=about_groups(found))


_WHAT = {"gap": "gap: ", "ratio": "ratio: ", "ratio-to-mean": "over geometric mean: "}


def _users_table(found: priori.UserRates) -> str:
    parts = []
    for about in found.roles:
        role = about["role"]
        worst: dict[str, Any] = found.of_role(role, WORST)
        rows = [
            [
                str(worst["user"][row]),
                f"{worst['errors'][row]} of {worst['trials'][row]}",
                *(percent(float(worst[name][row])) for name in ("rate", "shrunken", "lower", "upper")),
                "yes" if worst["above"][row] else "",
            ]
            for row in range(len(worst["user"]))
        ]
        title = f"{about['rate'].upper()} of {ROLES[role][1]} ({percent(about['overall'])} in all): highest first"
        note = "\n" + about_users(found) if about is found.roles[-1] else ""
        header = ["user", "errors", "rate", "shrunken", "lower", "upper", "above"]
        parts.append(table_text(title, header, rows, note=note))
    return "\n".join(parts)
