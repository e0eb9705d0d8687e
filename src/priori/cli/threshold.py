"""``priori threshold``, ``priori rates``: choose a threshold, and see what one gives; by group, or by user."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

import priori
from priori.base.alphas import as_fractions
from priori.base.cautions import Caution, named
from priori.base.errors import FewUsersError, OptionError, PrioriError
from priori.base.limits import check_level
from priori.base.texts import alpha_text
from priori.base.texts import cell as percent
from priori.base.texts import cells as percents
from priori.base.types import Floats
from priori.cli.commands import Asked, at_alpha, judging, make_command, output_group
from priori.cli.options import listed, option, options
from priori.cli.output import Progress, table_of, table_text
from priori.cli.systems import named_by, one_set
from priori.curves.checks import set_cautions, threshold_cautions
from priori.decisions.criteria import get_criterion
from priori.decisions.criterion import Criterion
from priori.decisions.measure import Ratio
from priori.decisions.measures import MEASURES
from priori.decisions.recipe import price, shifted
from priori.decisions.tasks import get_task
from priori.scores import ScoreSet
from priori.uncertainty.rates.group_rates import cross_groups, limits_in_groups
from priori.uncertainty.rates.rate_intervals import RATE_TITLES, Rate
from priori.uncertainty.rates.user_rates import ROLES
from priori.words.numbers import acceptance
from priori.words.sentences import about_groups, about_thresholds, about_users
from priori.words.vocabulary import RANGES

#: A rate with the ends of its interval, at each threshold.
Limits = tuple[Floats, Floats, Floats]
#: How many users in each role a table shows.
WORST = 10


def as_score(threshold: float, distances: bool) -> float:
    """Return a threshold that was typed on the scale of scores, on which distances are negated."""
    return 0.0 - threshold if distances else threshold


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise OptionError(f"--threshold {text!r} is not a number (inf and -inf are)")
    return value


@make_command(
    "threshold",
    one_set("dev"),
    judging(measure=False),
    option("bootstrap", default="auto"),
    *options("worst_by level seed no_bootstrap threads"),
    output_group(plot="Draw the ranges of the thresholds"),
)
def threshold(asked: Asked) -> None:
    """Print the threshold that minimises the criterion on DEV, its rates there, and how far it may be off.

    A trial is accepted when its score is greater than the threshold, or its distance less (--lower-is-better).
    Three ranges show its uncertainty: where other development sets like this one would put it, where the best threshold
    of the population lies, and which thresholds are as good on DEV. With --no-bootstrap they are left out.

    \b
    Examples:
      priori threshold dev.csv --alpha 0.5
      priori threshold dev.csv --criterion at-most-far --alpha 0.01
      priori threshold dev.csv --criterion at-most-far:0.95 --alpha 0.01
      priori threshold dev.csv --criterion at-most-far --alpha 0.01 --by sex,age
      priori threshold --system A a-dev.csv a-test.csv --criterion eer
      priori threshold dev.csv --costs fn=10,fp=1 --prior 0.01
    """
    settings = at_alpha(asked.settings)
    domain = get_task(settings["task"])
    rule, fractions = get_criterion(settings["criterion"], domain), as_fractions(settings["alpha"])
    scores = asked.read() if asked.worst_by is None else _grouped(asked, asked.worst_by)
    limits = fractions if asked.worst_by is None else limits_in_groups(scores.load(), rule.name, fractions)
    choice, alphas = rule.choose(scores, limits), np.array([float(fraction) for fraction in fractions])
    columns: dict[str, Any] = {
        "alpha": alphas.tolist(),
        "threshold": 0.0 - choice.threshold if scores.distances else choice.threshold,
        "dev_v1": domain.v1(choice.outcomes),
        "dev_v2": domain.v2(choice.outcomes),
    }
    if asked.settings["costs"] is not None:
        columns["dev_cost"] = settings["measure"](choice.outcomes)
    warnings: list[str] = [*threshold_cautions(rule, scores, alphas, choice)]
    if asked.worst_by is not None:
        columns["worst_group"], small = _worst_groups(scores, rule, alphas, choice.threshold)
        warnings += small
    sure = _how_sure(scores, rule, fractions, asked, warnings)
    if sure is None and asked.output.plot:
        raise OptionError("--plot draws the ranges of the thresholds, and these scores give none")
    if sure is not None:
        ranges = sure.columns()
        columns |= {name: ranges[name] for what in RANGES for name in (f"{what}_lower", f"{what}_upper")}
        warnings += sure.warnings

    def table() -> str:
        shown: dict[str, Iterable[str]] = {rule.alpha_name: map(alpha_text, alphas)}
        shown |= {"threshold": map("{:.10g}".format, columns["threshold"])}
        shown |= {f"dev {domain.v1.name}": percents(columns["dev_v1"])}
        shown |= {f"dev {domain.v2.name}": percents(columns["dev_v2"])}
        if "worst_group" in columns:
            shown["worst group"] = columns["worst_group"]
        if "dev_cost" in columns:
            shown["dev cost"] = map("{:.5g}".format, columns["dev_cost"])
        for what, (heading, _) in () if sure is None else RANGES.items():
            ends = zip(columns[f"{what}_lower"], columns[f"{what}_upper"], strict=True)
            shown[heading] = ["-" if math.isnan(low) else f"{low:.4g} to {high:.4g}" for low, high in ends]
        title = f"Threshold by {rule.title}; {acceptance(scores.distances).removesuffix(' than')}"
        return table_of(title, shown, note="" if sure is None else about_thresholds(sure))

    names = {"task": domain.name, "criterion": rule.name, "v1_name": domain.v1.name, "v2_name": domain.v2.name}
    told = {"distances": True} if scores.distances else {}
    asked.output.finish(
        sure,
        table=table,
        csv=lambda: columns,
        json=lambda: {**names, **told, "outcomes": choice.outcomes.to_dict(), **columns},
        warnings=dict.fromkeys(warnings),
    )


def _worst_groups(
    scores: ScoreSet, rule: Criterion, limits: Floats, thresholds: Floats
) -> tuple[list[str], list[Caution]]:
    """Return the group with the highest limited rate at each threshold, and warn of groups that no error may be in."""
    rate: Any = rule.name.removeprefix("at-most-")
    worst, cautions = [], list[Caution]()
    for limit, threshold in zip(limits.tolist(), thresholds.tolist(), strict=True):
        found = priori.group_rates(scores, threshold, rates=[rate]).rows(rate)
        row = int(found["value"].argmax())
        worst.append(f"{found['group'][row]} ({percent(found['value'][row])})")
        sizes = zip(found["group"].tolist(), found["trials"].tolist(), strict=True)
        if small := [f"{group} ({trials})" for group, trials in sizes if trials * limit < 1]:
            text = f"groups with so few trials that one error breaks the limit {limit:g}: {named(small)}"
            cautions.append(Caution("few-units", text))
    return worst, cautions


def _how_sure(
    scores: ScoreSet, rule: Criterion, alpha: Any, asked: Asked, warnings: list[str]
) -> priori.ThresholdInterval | None:
    """Return how sure the thresholds are; None, perhaps with a warning why, where nothing tells that."""
    if not rule.reads_development or asked.no_bootstrap or asked.worst_by is not None:
        return None
    check_level(asked.level)
    how = {"bootstrap": None if asked.bootstrap == "auto" else asked.bootstrap, "confidence_level": asked.level}
    how |= {"task": asked.settings["task"], "rng": asked.seed, "threads": asked.threads}
    try:
        with Progress("ranges of the thresholds") as progress:
            return priori.threshold_interval(scores, criterion=rule, alpha=alpha, progress=progress, **how)
    except PrioriError as error:
        if asked.bootstrap != "auto":
            raise
        warnings.append(Caution("no-bootstrap", f"no range for the threshold: {error}"))
        return None


@make_command(
    "rates",
    one_set("test"),
    *options("threshold by min_users costs prior level"),
    output_group(plot="Draw the rates of groups or users, with --by"),
)
def rates(asked: Asked) -> None:
    """Print outcomes and all measures on TEST at threshold X.

    Rates of one class have an interval, which takes users into account if they are known. NaN scores
    that count as rejected (--nan reject) are failures to acquire: FMR and FNMR leave them out, FAR and FRR do not
    (ISO/IEC 19795-1).

    \b
    Examples:
      priori rates test.csv --threshold 0.25
      priori rates test.csv --threshold 0.25 --threshold 0.5 --format csv
      priori rates test.csv --threshold 0.25 --by sex,age
      priori rates test.csv --threshold 0.25 --by user --plot users.svg
      priori rates test.csv --threshold 0.25 --prior 0.01
      priori rates test.csv --threshold 0.25 --costs fn=100,fp=1 --prior 0.01
    """
    typed, costs, prior, level = [*map(_number, asked.threshold)], asked.costs, asked.prior, asked.level
    if asked.by is not None:
        if len(typed) != 1 or any(each is not None for each in (costs, prior)):
            raise OptionError("--by goes with one --threshold, and without --costs and --prior")
        if asked.by == "user" and asked.min_users != 1:
            raise OptionError("--min-users leaves out groups, and --by user compares users")
        _by_people(typed[0], asked)
        return
    if asked.min_users != 1:
        raise OptionError("--min-users leaves out groups: add --by COLUMN")
    if asked.output.plot:
        raise OptionError("--plot draws groups or users: add --by COLUMN")
    scores = asked.read()
    thresholds = [as_score(each, scores.distances) for each in typed]
    outcomes = priori.count(scores, thresholds)
    measures = {name: measure for name, measure in MEASURES.items() if not measure.needs_alpha}
    if prior is not None:
        measures = {name: shifted(measure, prior) for name, measure in measures.items()}
    if costs is not None:
        measures["cost"], _ = price("authentication", None, None, None, costs, prior)
    counts = {"tp": outcomes.tp, "fp": outcomes.fp, "tn": outcomes.tn, "fn": outcomes.fn}
    columns: dict[str, Any] = {"threshold": typed, **counts}
    columns |= {name: measure(outcomes) for name, measure in measures.items()}
    limits, warnings = _limits(scores, thresholds, level)
    columns |= {name: value for name, (value, _, _) in limits.items() if name not in columns}
    for name, (_, lower, upper) in limits.items():
        columns |= {f"{name}_lower": lower, f"{name}_upper": upper}

    def table() -> str:
        rows = [[name, *(str(value) for value in number.tolist())] for name, number in counts.items()]
        # Without failures to acquire, FMR and FNMR equal FAR and FRR.
        titles = {str(rate): title for rate, title in RATE_TITLES.items()}
        beside = [name for name in titles if name in limits and scores.nan_rejected]
        for name in dict.fromkeys(("far", "frr", *beside, *measures)):
            title, rate = (measures[name].title, measures[name].rate) if name in measures else (titles[name], True)
            rows.append([f"{title} ({name})", *_cells(columns[name], limits.get(name), rate)])
        rule = f"accept when {'distance <' if scores.distances else 'score >'}"
        header = [rule, *(f"{value:.6g}" for value in typed)]
        return table_text("", header, rows, note=_note(level, scores))

    told = {"distances": True} if scores.distances else {}
    cautions = (*set_cautions(scores), *warnings)
    asked.output.finish(table=table, csv=lambda: columns, json=lambda: {**told, **columns}, warnings=cautions)


def _limits(scores: ScoreSet, thresholds: Sequence[float], level: float) -> tuple[dict[str, Limits], list[str]]:
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
    # Without failures there is nothing to leave out.
    failed = bool(scores.nan_rejected)
    limits["fmr"], limits["fnmr"] = (found("fmr"), found("fnmr")) if failed else (limits["far"], limits["frr"])
    nothing = np.zeros(len(thresholds))
    limits["fta"] = found("fta") if failed else (nothing, nothing, np.full(len(thresholds), np.nan))
    return limits, warnings


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


def _by_people(threshold: float, asked: Asked) -> None:
    """Print the rates of groups, or of users."""
    scores = asked.read() if asked.by == "user" else _grouped(asked, asked.by)
    cut = as_score(threshold, scores.distances)
    found: priori.GroupRates | priori.UserRates
    if asked.by == "user":
        found = priori.user_rates(scores, cut, confidence_level=asked.level)
        table = partial(_users_table, found)
    else:
        rates: tuple[Rate, ...] = ("far", "frr", "fmr", "fnmr", "fta") if scores.nan_rejected else ("far", "frr")
        found = priori.group_rates(
            scores, cut, rates=rates, by=asked.by, min_users=asked.min_users, confidence_level=asked.level
        )
        table = partial(_groups_table, found)
    asked.output.finish(found, table=table, warnings=(*set_cautions(scores), *found.warnings))


def _grouped(asked: Asked, by: str) -> ScoreSet:
    """Return the scores in the groups that a column names, or several columns together."""
    columns = listed(by)
    if len({*columns}) < len(columns):
        raise OptionError(f"--by {by}: name each column once")
    with named_by("--by NAME", "group"):
        sets = [asked.read(group=column) for column in columns]
    return sets[0] if len(sets) == 1 else cross_groups(sets)


def _groups_table(found: priori.GroupRates) -> str:
    rows = []
    for row, what in enumerate(found.what.tolist()):
        plain = what in ("ratio", "ratio-to-mean", "fdr", "garbe")
        name = f"{found.rate[row].upper()}, {_WHAT.get(what, '')}{found.group[row]}"
        name += {"gap": f" - {found.other[row]}", "ratio": f" / {found.other[row]}"}.get(what, "")
        numbers = (float(column[row]) for column in (found.value, found.lower, found.upper))
        shown = [f"{number:.3g}" if plain else percent(number) for number in numbers]
        rows.append([name, *shown, f"{found.errors[row]}", f"{found.trials[row]}", f"{found.people[row] or '-'}"])
    rule = f"{acceptance(found.distances)} {found.summary()['threshold']:.6g}"
    title = f"Error rates by {found.by}, {rule}"
    header = ["rate and group", "value", "lower", "upper", "errors", "trials", "users"]
    return table_text(title, header, rows, note=about_groups(found))


_WHAT = {
    "gap": "gap: ",
    "ratio": "ratio: ",
    "ratio-to-mean": "over geometric mean: ",
    "worst": "worst: ",
    "fdr": "FDR",
    "garbe": "GARBE",
}


def _users_table(found: priori.UserRates) -> str:
    parts = []
    for about in found.roles:
        of = f"{about['rate'].upper()} of {ROLES[about['role']][1]}"
        title = f"{of} ({percent(about['overall'])} in all): highest lower bound first"
        rows = found.of_role(about["role"], WORST)
        shown: dict[str, Iterable[str]] = {name: map(str, rows[name]) for name in ("user", "errors", "trials")}
        shown |= {name: percents(rows[name]) for name in ("rate", "lower", "upper")}
        shown["above"] = ["yes" if above else "" for above in rows["above"]]
        parts.append(table_of(title, shown, note="\n" + about_users(found) if about is found.roles[-1] else ""))
    return "\n".join(parts)
