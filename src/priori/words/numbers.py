"""Numbers: how names, numbers, thresholds and alphas are written for people, in sentences and in tables."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from fractions import Fraction

from priori.base.texts import alpha_text as alpha_text
from priori.base.texts import cell as cell
from priori.base.texts import p_text as p_text
from priori.decisions.constraints import Constraint
from priori.decisions.criteria import Criterion, Target
from priori.decisions.measure import Measure
from priori.decisions.tasks import Task

#: Marks that reverse the direction of text; removed from sentences, where they could reverse what follows.
_TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}
#: First strong isolate and its end: what stands between them cannot turn what stands around them.
_ISOLATE, _END = "\u2068", "\u2069"


def clean(text: str) -> str:
    """Return a name without line breaks, control characters and broken surrogates, which no page can show."""
    readable = "".join(
        " " if char.isspace() else "\ufffd" if unicodedata.category(char) in ("Cc", "Cs") else char for char in text
    )
    return " ".join(readable.split())


def one_line(text: str) -> str:
    """Return a text on one line that cannot turn the direction of what stands around it."""
    return clean("".join(char for char in text if ord(char) not in _TURNING))


def short(name: str, width: int = 40) -> str:
    """Return a name as a sentence can hold it: one line, never turning the text round it.

    A long name is cut in its middle: names that begin alike, as those of variants do, must not look the same.

    Examples
    --------
    >>> short("detector-with-prompt-a", width=12), short("detector-with-prompt-b", width=12)
    ('detecto…pt-a', 'detecto…pt-b')
    """
    ends = name if len(name) <= 40 * width else name[: 20 * width] + name[-20 * width :]  # all that can be shown
    text = one_line(ends)
    if len(text) > width:
        text = f"{text[: width - width // 3 - 1].rstrip()}…{text[-(width // 3) :].lstrip()}"
    text = text or "(no name)"
    turned = any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in text)
    return f"{_ISOLATE}{text}{_END}" if turned else text


def first_words(text: str, most: int = 150) -> str:
    """Return a sentence, or as much of it as ends with a clause, or at least with a word.

    Examples
    --------
    >>> first_words("few users: the rate is easily off", most=15), first_words("all of it", most=3)
    ('few users…', 'all…')
    """
    if len(text) <= most:
        return text
    begun = text[: most + 1]
    cut = max((begun.rfind(mark) for mark in (": ", "; ", ", ", ". ")), default=-1)
    return begun[: cut if cut > most / 2 or begun.rfind(" ") < 0 else begun.rfind(" ")].rstrip() + "…"


def unbroken(text: str) -> str:
    """Return the text with spaces that do not break before a unit."""
    return text.replace(" %", "\u00a0%")


def possessive(name: str) -> str:
    """Return the name with its apostrophe: A's, eigenfaces'."""
    return name + ("'" if name[-1:] in "sS" else "'s")


def listing(items: Sequence[str], last: str = "and") -> str:
    """Return 'A', 'A and B' or 'A, B and C'."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def abridged(items: Sequence[str], last: str = "and", most: int = 4) -> str:
    """Return a list that names not more than ``most``: 'A, B, C and 4 others'."""
    return listing(items if len(items) <= most else [*items[: most - 1], f"{len(items) - most + 1} others"], last)


def money(value: float) -> str:
    """Return an amount: with cents, or with four decimals below 1.

    Examples
    --------
    >>> money(1234.5), money(0.02), money(float("nan"))
    ('1,234.50', '0.0200', '–')
    """
    return "–" if math.isnan(value) else f"{value:,.{2 if abs(value) >= 1 or not value else 4}f}"


def ordinal(number: int) -> str:
    """Return '1st', '2nd', '11th'."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def rank_range(lower: int, upper: int) -> str:
    """Return between which ranks a system lies.

    Examples
    --------
    >>> rank_range(2, 7), rank_range(11, 11)
    ('2nd to 7th', '11th')
    """
    return ordinal(lower) if lower == upper else f"{ordinal(lower)} to {ordinal(upper)}"


def counted(number: int, noun: str) -> str:
    """Return '1 user', '2 users', 'no user'."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}" if number else f"no {noun}"


def aggregate(measure: Measure) -> str:
    """Return the name of a measure inside a sentence: HTER and F1 as they are, other titles in small letters."""
    first = measure.title.split()[0]
    return measure.title if first.isupper() else measure.title[:1].lower() + measure.title[1:]


def _decimals(size: float) -> int:
    """Return how many decimals a percentage needs to show two digits or more."""
    return 1 if size >= 1 or size == 0 else min(1 - math.floor(math.log10(size)), 6)


def percent(rate: float) -> str:
    """Return a rate in per cent, with the digits that matter.

    Examples
    --------
    >>> percent(0.0981), percent(0.00123), percent(0.0)
    ('9.8 %', '0.12 %', '0 %')
    """
    size = 100 * abs(rate)
    return f"{100 * rate:.{_decimals(size)}f} %" if size else "0 %"


def level_text(confidence_level: float) -> str:
    """Return a confidence level: 95 %."""
    return f"{100 * confidence_level:g} %"


def value(number: float, measure: Measure) -> str:
    """Return the value of a measure for a sentence."""
    return percent(number) if measure.rate else f"{number:.4g}"


def interval(number: float, lower: float, upper: float, measure: Measure) -> str:
    """Return the interval of a number for a sentence, with as many decimals; the unit stands with the number."""
    if not measure.rate:
        return " to ".join(_four_digits(lower, upper))
    decimals = max(_decimals(100 * abs(each)) for each in (number, max(lower, upper, key=abs)))
    return "–".join(outwards(100 * lower, 100 * upper, decimals))


def _four_digits(lower: float, upper: float) -> tuple[str, str]:
    """Return bounds with about four digits, rounded outwards."""
    size = max(abs(lower), abs(upper))
    low, high = outwards(lower, upper, 3 if size == 0 else max(0, 3 - math.floor(math.log10(size))))
    return f"{float(low):.15g}", f"{float(high):.15g}"


def bounds(lower: float, upper: float, rate: bool) -> str:
    """Return an interval for a table, rounded outwards: per cent with two decimals, anything else four digits."""
    ends = outwards(100 * lower, 100 * upper, 2) if rate else _four_digits(lower, upper)
    return " to ".join(ends).replace("-", "−")


def gap(difference: float, measure: Measure) -> str:
    """Return the size of a difference: percentage points where the measure is a rate."""
    if not measure.rate:
        return f"{abs(difference):.3g}"
    size = 100 * abs(difference)
    text = f"{size:.{1 if size >= 0.095 else _decimals(size)}f}"
    return f"{text} {'point' if text == '1.0' else 'points'}"


def threshold_text(threshold: str) -> str:
    """Return a threshold for a table; the infinite ones accept or reject all."""
    return {"inf": "reject all", "-inf": "accept all"}.get(threshold, threshold)


def decision(threshold: str, distances: bool) -> str:
    """Return what a threshold does, for a sentence."""
    extremes = {"inf": "reject every trial", "-inf": "accept every trial"}
    return extremes.get(threshold, f"{acceptance(distances)} {threshold}")


def acceptance(distances: bool) -> str:
    """Return how a threshold decides, for a sentence that ends in it."""
    return f"accept when the {'distance is less' if distances else 'score is greater'} than"


def weighing(criterion: Criterion, task: Task, alpha: Fraction, *, with_alpha: bool = False) -> str:
    """Return what an alpha means: the trade-off in words, ``with_alpha`` also the alpha where they do not give it.

    Examples
    --------
    >>> from priori.decisions.criteria import get_criterion
    >>> from priori.decisions.tasks import get_task
    >>> weighing(get_criterion("wer"), get_task("authentication"), Fraction(4, 5), with_alpha=True)
    'With FAR weighed 4 times FRR (alpha = 0.8)'
    """
    if criterion.name == "eer":
        return f"With the threshold where {rate_name(task.v1)} and {rate_name(task.v2)} are nearest"
    if not criterion.uses_alpha:
        return f"With the threshold by {criterion.name}"
    if criterion.name in ("wer", "pr") or criterion.name.startswith("bayes"):
        meaning = _weights(criterion, alpha)
    elif isinstance(criterion, Target):
        return f"Aiming at a {rate_name(criterion.aimed_at)} of {percent(float(alpha))}"
    elif isinstance(criterion, Constraint):
        most = "at least" if criterion.aimed_at.greater_is_better else "at most"
        sure = "on the development set" if criterion.level is None else f"with {100 * criterion.level:g} % confidence"
        return f"With a {rate_name(criterion.aimed_at)} of {most} {percent(float(alpha))} {sure}"
    else:
        return f"At alpha = {alpha_text(alpha)}"
    return f"{meaning} (alpha = {alpha_text(alpha)})" if with_alpha else meaning


def _times(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio < 1000 else f"{float(f'{ratio:.3g}'):,.0f}"


def rate_name(measure: Measure) -> str:
    """Return the short name of a rate inside a sentence: FAR, recall."""
    return measure.name.upper() if len(measure.name) == 3 else measure.name


def _weights(criterion: Criterion, alpha: Fraction) -> str:
    v1, v2 = ("precision", "recall") if criterion.name == "pr" else ("FAR", "FRR")
    if alpha in (0, 1):
        return f"With only {v1 if alpha else v2} counted"
    if alpha == Fraction(1, 2):
        return "At equal costs" if criterion.name != "pr" else f"With {v1} and {v2} weighed equally"
    heavy, light = (v1, v2) if alpha > Fraction(1, 2) else (v2, v1)
    ratio = max(alpha, 1 - alpha) / min(alpha, 1 - alpha)
    return f"With {heavy} weighed {_times(float(ratio))} times {light}"


def outwards(lower: float, upper: float, decimals: int) -> tuple[str, str]:
    """Return bounds with so many decimals, rounded away from each other, so that no interval is shown too narrow.

    Examples
    --------
    >>> outwards(4.187, 7.112, 1)
    ('4.1', '7.2')
    """
    unit = 10**decimals
    low, high = math.floor(round(lower * unit, 6)) / unit, math.ceil(round(upper * unit, 6)) / unit
    return f"{low + 0.0:.{decimals}f}", f"{high + 0.0:.{decimals}f}"


def _of_thousand(number: float) -> int:
    """Return how many decimals a number in a thousand needs."""
    return 0 if number >= 9.95 or number == 0 else 1 if number > 0.95 else _decimals(number)


def per_thousand(rate: float) -> str:
    """Return how many in 1,000 a rate is; fewer than ten with a decimal.

    Examples
    --------
    >>> per_thousand(0.0981), per_thousand(0.00312), per_thousand(0.00004), per_thousand(0.0)
    ('98', '3.1', '0.040', '0')
    """
    return f"{1000 * rate:,.{_of_thousand(1000 * rate)}f}"


def per_thousand_range(lower: float, upper: float) -> str:
    """Return an interval in 1,000, its ends rounded outwards: ``14 to 38``."""
    return " to ".join(outwards(1000 * lower, 1000 * upper, _of_thousand(1000 * upper)))


def told_apart(first: float, second: float, write: Callable[[float], str], unit: str = "") -> tuple[str, str]:
    """Return two numbers as ``write`` does, with more decimals where they would look the same and are not."""
    texts = write(first), write(second)
    if texts[0] != texts[1] or first == second:
        return texts
    for decimals in range(1, 7):
        longer = f"{first:.{decimals}f}{unit}", f"{second:.{decimals}f}{unit}"
        if longer[0] != longer[1]:
            return longer
    return texts  # the same but for rounding


def values_apart(first: float, second: float, measure: Measure) -> tuple[str, str]:
    """Return two values of a measure, with as many digits as show that they differ."""
    if not measure.rate:
        return told_apart(first, second, lambda number: f"{number:.4g}")
    return told_apart(100 * first, 100 * second, lambda number: percent(number / 100), " %")
