"""Sentences about people: which groups differ, who makes the errors; the same for command line and page."""

from __future__ import annotations

from priori.uncertainty.rates.group_rates import GroupRates
from priori.uncertainty.rates.user_rates import ROLES, UserRates
from priori.words.numbers import level_text, p_text, percent, short


def about_groups(found: GroupRates) -> str:
    """Say for each rate how far apart the groups are, and whether that is more than chance."""
    level = level_text(found.confidence_level)
    lines = []
    for rate in dict.fromkeys(found.rate.tolist()):
        gap, ratio = found.rows(rate, "gap"), found.rows(rate, "ratio")
        if not gap["value"].size:
            groups = found.rows(rate)["value"].size
            few = "one group only, nothing to compare" if groups == 1 else f"{groups} groups, too many to compare pairs"
            lines.append(f"{rate.upper()}: {few}.")
            continue
        high, low = short(str(gap["group"][0])), short(str(gap["other"][0]))
        lower, upper = float(gap["lower"][0]), float(gap["upper"][0])
        difference = f"{percent(float(gap['value'][0]))} ({level} interval {percent(lower)} to {percent(upper)})"
        times = f"{ratio['value'][0]:.3g} times ({ratio['lower'][0]:.3g} to {ratio['upper'][0]:.3g})"
        verdict = "groups differ" if lower > 0 else "no difference between groups is significant"
        lines.append(
            f"{rate.upper()}: {verdict}; {high} has the highest rate and {low} the lowest, {difference}, {times}."
        )
    by = "users" if found.dependence != "none" else "trials, taken for independent"
    return "\n".join([*lines, f"Intervals hold for all groups, and for all pairs of groups, at once, by {by}."])


def about_users(found: UserRates) -> str:
    """Say for each role whether users differ, and how many stand out."""
    lines = []
    for about in found.roles:
        differ = about["p_value"] < 1 - found.confidence_level
        verdict = "users differ" if differ else "users do not differ significantly"
        rate, trials = ROLES[about["role"]]
        lines.append(
            f"{rate.upper()} of {trials}: {verdict} (p {p_text(about['p_value'])}); {about['above']} of "
            f"{about['users']} are clearly above {percent(about['overall'])}."
        )
    level = level_text(found.confidence_level)
    lines.append(f"Rates are shrunken towards everybody's (beta-binomial); {level} intervals of each user's own rate.")
    return "\n".join(lines)
