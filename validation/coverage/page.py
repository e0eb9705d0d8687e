"""What is written from the records: docs/coverage.md with its figure, and every number in RECORD.md beside them."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from bands import EXPECTED, KEPT
from populations import GRID, REASONABLE
from tallies import Row

CROSSED_TITLE = GRID[-1].title
#: Candidates for the default where the user of each trial is known: what a person could have by naming it.
CANDIDATES = (
    "sample, percentile",
    "user-constrained, percentile",
    "user, percentile",
    "user, centred",
    "user, calibrated",
    "joint, percentile",
    "joint, centred",
)
#: Those that the page has the numbers of.
SHOWN = ("sample, percentile", "user, percentile", "user, calibrated", "joint, percentile")
DEFAULT, DEFAULT_CROSSED = "user, calibrated", "crossed, calibrated"
#: The parts of what validation/coverage/unlike.py measured: populations as documented, those whose users are unlike
#: each other, and the results on either that carry no warning; populations that
#: nothing was chosen on; tests, margins and plans, which are no intervals.
HEALTHY, UNLIKE, SILENT, FRESH, ASKED = "healthy", "unlike users", "silent", "fresh", "asked"
#: Where so many of the results carry a warning, they are not silent.
WARNED = 0.8
#: Below this coverage an interval fails.
LOW = 0.92
#: How far below its nominal coverage a default may fall.
ALLOWED = 0.02
#: The results that people rely on: what they are called here, the part of the record, its method, what is covered.
RELIED_ON = (
    ("band, thresholds kept", "bands", DEFAULT, KEPT),
    ("band, expected curve", "bands", DEFAULT, EXPECTED),
    ("simultaneous band, thresholds kept", "bands", f"{DEFAULT}, simultaneous", KEPT),
    ("`rate_interval`, by user", "one rate", "adjusted-wilson", "whole population"),
    ("`rate_interval`, both identities", "one rate, crossed", "adjusted-wilson, crossed", "whole population"),
    ("AUC interval", "AUC, a posteriori", "Obuchowski, logit", "whole population"),
    ("ROC band", "ROC, a posteriori", DEFAULT, "whole population"),
    ("areas E_V1, E_V2, G", "areas", DEFAULT, "thresholds kept"),
    ("rates of all groups together", "groups", "all groups", "whole population"),
    ("each user's own rate", "users' own rates", "wilson", "whole population"),
    ("average AUC of data sets", "average of data sets", "t, AUC", "whole population"),
    ("`cross_epc`, five folds", "folds", "5 folds, by user", "thresholds of the folds"),
    ("`at-most-far:0.95`, 5 %", "limits", "at-most-far:0.95, users, 5 %", "the population's rate keeps the limit"),
)
#: Tests of two systems that are one line of the page, where users are unlike each other.
PAIRED = ("compare, as methods, alpha 0.5", "compare, these thresholds, alpha 0.5", "AUC test")
TESTED = (
    ("`compare`, these thresholds", "tests", "bootstrap, by default", "true null rejected"),
    ("`compare`, as methods", "tests", "bootstrap, by default, both sets redrawn", "true null rejected"),
    ("DeLong's test of two AUCs", "tests", "DeLong's, paired, AUC", "true null rejected"),
    ("z-test of dependent HTERs", "tests", "z-test, dependent", "true null rejected"),
    ("McNemar's test", "tests", "McNemar's, FAR", "true null rejected"),
)


def default_for(population: str) -> str:
    return DEFAULT_CROSSED if population == CROSSED_TITLE else DEFAULT


class Record:
    """The rows, to be looked up."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self.by_key = {(row.part, row.population, row.method, row.promise): row for row in self.rows}

    def get(self, part: str, population: str, method: str, promise: str) -> Row | None:
        return self.by_key.get((part, population, method, promise))

    def of(self, **wanted: str) -> list[Row]:
        return [row for row in self.rows if all(getattr(row, name) == value for name, value in wanted.items())]


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def spread(rows: Sequence[Row]) -> str:
    """From the lowest to the highest share, in per cent."""
    lowest, highest = (percent(of([row.measured for row in rows] or [math.nan])) for of in (min, max))
    return lowest if lowest == highest else f"{lowest}–{highest}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:" if len(head) > 2 else "---"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(head), rule, *lines]) + "\n"


def warned(row: Row) -> tuple[float, str]:
    """Return the share of results that carried the commonest caution about this population, and its code."""
    said = (each.rsplit(" ", 1) for each in row.warnings.split("; ") if each)
    return max(((float(share) / 100, code) for code, share in said), default=(0.0, "none"))


# -- choosing the default ----------------------------------------------------------------------------------------


def candidates(record: Record) -> tuple[list[str], str | None]:
    """What each candidate for the default covers, how wide it is, and the one that the rule chooses."""
    lines, allowed = [], []
    for method in CANDIDATES:
        titles = [title for title in REASONABLE if title != CROSSED_TITLE]
        rows = [row for title in titles if (row := record.get("bands", title, method, KEPT))]
        if not rows:
            continue
        lowest = min(rows, key=lambda row: row.measured)
        distance = sum(abs(row.measured - row.nominal) for row in rows) / len(rows)
        defaults = [record.get("bands", row.population, DEFAULT, KEPT) for row in rows]
        wide = [row.width / other.width for row, other in zip(rows, defaults, strict=True) if other]
        if lowest.measured + 2 * lowest.standard_error >= lowest.nominal - ALLOWED:
            allowed.append((distance, method))
        if method in SHOWN:
            width = math.exp(sum(map(math.log, wide)) / len(wide))
            lines.append(f"{method} {spread(rows)} % ({width:.2f})")
    return lines, min(allowed)[1] if allowed else None


# -- the page ----------------------------------------------------------------------------------------------------


def unlike_rows(path: Path) -> list[Row]:
    """Return what validation/coverage/unlike.py measured."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    rows = []
    for line in lines:
        share = float(line["warned"])
        # The commonest caution stands for all of them.
        said = f"{line['codes'].split(' ')[0]} {100 * share:.0f}" if line["codes"] else ""
        parts = {FRESH: "measured"} if line["kind"] == "fresh" else {}
        if line["nominal"] == "0.9500":
            parts[HEALTHY if line["kind"] == "healthy" else UNLIKE] = "measured"
            if share < 1:
                parts[SILENT] = "silent"
        elif not parts and "default grid" not in line["result"]:
            parts[ASKED] = "measured"
        for part, measured in parts.items():
            numbers = [float(line[name]) for name in ("nominal", measured, "standard_error", "width")]
            if line["result"].startswith("plan"):
                numbers[-1] /= 100  # users, as in the record of plans
            kind = line["kind"] if part == ASKED else ""
            rows.append(Row(part, line["population"], line["result"], kind, *numbers, int(line["repeats"]), said))
    return rows


def page(
    rows: Iterable[Row], methods: Sequence[Row] = (), boards: Sequence[Row] = (), unlike: Sequence[Row] = ()
) -> str:
    """Return docs/coverage.md from the records."""
    record, method, board = Record([*rows, *unlike]), Record(methods), Record(boards)
    return "\n".join((_head(record), _results(record, method, board), _choice(record), _how(record)))


def _hard(record: Record) -> list[Row]:
    """Return the default results of hard populations, worst first."""
    limits = [row for row in record.of(part="limits, hard") if ", users" in row.method]
    return sorted([*record.of(part="hard"), *limits, *record.of(part=UNLIKE)], key=lambda row: row.measured)


def _head(record: Record) -> str:
    silent = [row for row in (*_hard(record), *record.of(part=HEALTHY)) if warned(row)[0] < WARNED]
    worst = min(silent, key=lambda row: row.measured, default=None)
    text = """# Measured coverage

<!-- Written by validation/coverage/measure.py; change that, not this. -->

How often our intervals contain the true value, and our tests reject a true null, in simulations whose truth is known;
`make validate` measures it again.

"""
    if outsiders := [row for row in _hard(record) if "outsiders" in row.population]:
        text += (
            "- **The worst case without a warning**: users attacked by outsiders whom nothing names are covered at "
            f"{percent(outsiders[0].measured)} % instead of 95 %. With labels 0 and 1 and a `user` "
            "column, they look like any others.\n"
        )
    text += _silence(record)
    if worst is not None:
        text += (
            f"- **The worst case that fewer than {100 * WARNED:.0f} % of the results warn of** covers "
            f"{percent(worst.measured)} %: {worst.population} ({worst.method}; standard error "
            f"{percent(worst.standard_error)}; {100 * warned(worst)[0]:.0f} % warn).\n"
        )
    if healthy := [warned(row)[0] for row in record.of(part=HEALTHY)]:
        text += (
            f"- **Where users are ordinary**, {100 * sum(healthy) / len(healthy):.0f} % of the results carry a "
            f"warning, at most {100 * max(healthy):.0f} % of any kind.\n"
        )
    usual = [row for title in REASONABLE if (row := record.get("bands", title, default_for(title), KEPT))]
    if sample := record.get("bands", GRID[3].title, "sample, percentile", KEPT):
        text += (
            f"- **In ordinary populations** of 20 to 500 users, the default band covers {spread(usual)} %. Ignoring "
            f"users is the mistake to avoid: resampling trials covers {percent(sample.measured)} % where they differ "
            "strongly.\n"
        )
    return (
        text
        + """
![Coverage by population: the default, and resampling trials](images/coverage.svg)
"""
    )


def _results(record: Record, method: Record, board: Record) -> str:
    """Every result in one table: what holds, and where it fails."""
    usual = [
        [title, f"{len(rows)}", spread(rows), ""]
        for title, part, how, promise in RELIED_ON
        if (rows := record.of(part=part, method=how, promise=promise))
    ]
    together = [row for row in method.of(part="size", method="method") if row.promise != "all alphas together"]
    pairs = [row for row in board.rows if row.promise == "familywise error"]
    tested = [(title, record.of(part=part, method=how, promise=promise)) for title, part, how, promise in TESTED]
    tested += [("`compare`, as methods, at single alphas", together), ("`rank`, any pair wrongly told apart", pairs)]
    tests = [[title, str(len({row.population for row in rows})), spread(rows), ""] for title, rows in tested if rows]
    parts = {
        "Intervals at 95 %, ordinary populations": usual,
        "Tests at 5 %, equal systems (z-test and McNemar's ignore users)": tests,
        "Intervals at 95 %, users unlike each other": _unlike(record),
        "Tests, margins and plans, some on such users (nominal)": _asked(record),
        "Nothing was chosen on these: intervals; tests": _fresh(record),
    }
    lines = [line for title, found in parts.items() if found for line in ([f"**{title}**", "", "", ""], *found)]
    return f"""## Every result

From the lowest to the highest over so many cases: populations of a result, or results of a population; `warned` is of
those that cover less than 92 %, where any do. Few users who make the errors that matter, users who try more and err
more, and impostors whom nobody names leave no sure interval; the rate per user (`weight="user"`) does not depend on
heavy users.

{table(["", "cases", "measured, %", "warned, %"], lines)}
By default `compare` asks about methods, whose thresholds would be chosen again, `rank` about these thresholds; `claim`
chooses. What a band covers depends on [`resample`](concepts/bootstraps.md#fixed-or-new-thresholds); at alpha 0 and 1 no
coverage is claimed.
"""


def _choice(record: Record) -> str:
    lines, chosen = candidates(record)
    return f"""## Why the default is {chosen}

Of the methods that never fall more than two points below 95 % on ordinary populations, it is the nearest to 95 % on
average. Coverage, and width relative to it:
{"; ".join(lines)}.
Where both identities are known it is the crossed bootstrap, where nobody is the sample bootstrap, which takes trials
for independent.

Others call the user bootstrap the cluster bootstrap, the crossed one the pigeonhole bootstrap, and the joint one of the
2007 paper, which counts the spread within users twice, a two-stage cluster bootstrap. No worse by a margin is
non-inferiority, both ways TOST; ours is stricter: it adds a harmed user.
"""


def _unlike(record: Record) -> list[list[str]]:
    """Populations with a result that covers less than 92 %, the worst first, and all others as one."""
    populations: dict[str, list[Row]] = {}
    for row in _hard(record):
        populations.setdefault(row.population, []).append(row)
    lines, others = [], list[Row]()
    for population, rows in populations.items():
        if failing := [row for row in rows if row.measured < LOW]:
            share, code = min(map(warned, failing))
            more = "+" if len(failing) > 1 and share < 1 else ""
            lines.append([population, str(len(rows)), spread(rows), f"`{code}` {100 * share:.0f}{more}"])
        else:
            others += rows
    if others:
        number = len({row.population for row in others})
        # The kinds among them, by the words of their titles.
        named = [
            each
            for each in ("exponential", "goats", "lambs", "distinct scores", "named outsiders")
            if any(each in row.population for row in others)
        ]
        lines.append([f"{number} others ({', '.join(named)}, ...)", str(len(others)), spread(others), _told(others)])
    return lines


def _told(rows: Sequence[Row]) -> str:
    """From the lowest to the highest share of results with a warning, in whole per cent."""
    shares = [round(100 * warned(row)[0]) for row in rows]
    return f"{min(shares)}–{max(shares)}" if min(shares) < max(shares) else f"{shares[0]}"


def _silence(record: Record) -> str:
    """Say how many results are wrong and carry no warning, and why more of them cannot."""

    def wrong(row: Row) -> float:
        return (1 - warned(row)[0]) * (1 - row.measured)

    worst = max(record.of(part=SILENT), key=wrong, default=None)
    if worst is None:
        return ""
    share = 100 * warned(worst)[0]
    return (
        f"- **Otherwise at most {percent(wrong(worst))} % of the results are wrong and carry no warning**, where 5 % "
        f"may be: {worst.population} ({worst.method}); {share:.0f} % warn, the others cover {percent(worst.measured)} "
        "%. Where the worst users were not drawn, a set looks like any other.\n"
    )


def _asked(record: Record) -> list[list[str]]:
    """Tests, margins and plans on populations as documented and on those whose users are unlike each other."""
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in record.of(part=ASKED):
        wanted = f"{100 * row.nominal:g} %" if row.nominal < 1 else "power"
        method = "tests of two equal systems" if row.method in PAIRED else row.method
        title = method if wanted in method else f"{method} ({wanted})"
        kinds.setdefault((title, row.promise), []).append(row)
    lines = []
    for (title, _), rows in kinds.items():
        few = f", {rows[0].population}" if len({row.population for row in rows}) == 1 else ""
        lines.append([f"{title}{few}", str(len(rows)), spread(rows), _told(rows)])
    return lines


def _fresh(record: Record) -> list[list[str]]:
    """Populations that nothing was chosen on: intervals of both rates and of the AUC, and tests of equal systems."""
    populations: dict[str, list[Row]] = {}
    for row in record.of(part=FRESH):
        populations.setdefault(row.population, []).append(row)
    lines = []
    for population, rows in populations.items():
        kinds = [[row for row in rows if (row.nominal > 0.5) == covers] for covers in (True, False)]
        lines.append([population, str(len(rows)), "; ".join(map(spread, kinds)), _told(rows)])
    return lines


def _how(record: Record) -> str:
    kept = [row for row in record.of(part="bands", promise=KEPT) if "simultaneous" not in row.method]
    error = percent(max((row.standard_error for row in kept), default=math.nan))
    repeats = max((row.repeats for row in record.of(part="bands")), default=0)
    return f"""## How it was measured

Up to {repeats} sets of each population; standard errors are at most {error} points for pointwise bands, which have 399
replicates (10,000 by default) at alpha 0.1 to 0.9. Every number is in `validation/coverage/RECORD.md`, with widths;
with standard errors and cautions in the files beside it.
"""


def full_record(records: dict[str, Iterable[Row]]) -> str:
    """Return RECORD.md: a table for each part of each record and each thing covered, populations by methods."""
    text = ["# Every measured coverage and size", "", "<!-- Written by validation/coverage/measure.py. -->", ""]
    text += ["Per cent, and in brackets the mean width, in per cent too (of plans: users).", ""]
    for name, rows in records.items():
        by_table: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            by_table.setdefault((row.part, row.promise), []).append(row)
        for (part, promise), found in by_table.items():
            methods, populations = (
                list(dict.fromkeys(getattr(row, of) for row in found)) for of in ("method", "population")
            )
            shown = {(row.population, row.method): f"{percent(row.measured)} ({100 * row.width:.2f})" for row in found}
            lines = [[each, *(shown.get((each, method), "–") for method in methods)] for each in populations]
            text += [f"## {name}: {part}; {promise}", "", table(["population", *methods], lines)]
    return "\n".join(text)


def draw(rows: Iterable[Row], path: Path) -> None:
    """Draw the coverage of the default and of resampling trials, population by population."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    record = Record(rows)
    shown = {"resampling trials": ("sample, percentile", "#c05621", "o"), "the default": (DEFAULT, "#1a5fb4", "D")}
    with mpl.rc_context({"svg.hashsalt": "coverage", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(8, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for label, (method, colour, marker) in shown.items():
            known = [
                record.get("bands", one.title, default_for(one.title) if method == DEFAULT else method, KEPT)
                for one in GRID
            ]
            at = [(100 * row.measured, len(GRID) - place) for place, row in enumerate(known) if row]
            axes.plot(*zip(*at, strict=True), marker, color=colour, label=label)
        axes.axvline(95, color="0.4", linewidth=1)
        axes.set_yticks(range(len(GRID), 0, -1), [one.title for one in GRID])
        axes.set_xlabel("coverage of 95 % bands, %")
        axes.grid(axis="y", color="0.9")
        axes.legend(loc="lower left", frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
