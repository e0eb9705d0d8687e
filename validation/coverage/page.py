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
DEFAULT, DEFAULT_CROSSED = "user, calibrated", "crossed, calibrated"
#: The parts of what validation/coverage/unlike.py measured: populations as documented, those whose users are unlike
#: each other, and the results on either that carry no warning; populations that
#: nothing was chosen on; tests, margins and plans, which are no intervals.
HEALTHY, UNLIKE, SILENT, FRESH, ASKED = "healthy", "unlike users", "silent", "fresh", "asked"
#: Where so many of the results carry a warning, they are not silent.
WARNED = 0.8
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
    ("average AUC of data sets, t interval", "average of data sets", "t, AUC", "whole population"),
    ("`cross_epc`, five folds", "folds", "5 folds, by user", "thresholds of the folds"),
    ("`at-most-far:0.95`, 5 %", "limits", "at-most-far:0.95, users, 5 %", "the population's rate keeps the limit"),
)
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
    shares = [row.measured for row in rows] or [math.nan]
    return f"{percent(min(shares))} to {percent(max(shares))}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:" if len(head) > 2 else "---"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(head), rule, *lines]) + "\n"


def warned(row: Row) -> tuple[float, str]:
    """Return the share of results that carried the commonest caution about this population, and its code."""
    said = (each.rsplit(" ", 1) for each in row.warnings.split("; ") if each)
    return max(((float(share) / 100, code) for code, share in said), default=(0.0, "none"))


# -- choosing the default ----------------------------------------------------------------------------------------


def candidates(record: Record) -> tuple[str, str | None]:
    """The candidates for the default with how far each falls, and the one that the rule chooses."""
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
        holds = lowest.measured + 2 * lowest.standard_error >= lowest.nominal - ALLOWED
        if holds:
            allowed.append((distance, method))
        width = f"{math.exp(sum(map(math.log, wide)) / len(wide)):.2f}"
        lines.append([method, spread(rows), width, "yes" if holds else "no"])
    head = ["bootstrap, interval", "coverage, %", "width, of the default's", "holds"]
    return table(head, lines), min(allowed)[1] if allowed else None


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
            numbers = (float(line[name]) for name in ("nominal", measured, "standard_error", "width"))
            kind = line["kind"] if part == ASKED else ""
            rows.append(Row(part, line["population"], line["result"], kind, *numbers, int(line["repeats"]), said))
    return rows


def page(
    rows: Iterable[Row], methods: Sequence[Row] = (), boards: Sequence[Row] = (), unlike: Sequence[Row] = ()
) -> str:
    """Return docs/coverage.md from the records."""
    record, method, board = Record([*rows, *unlike]), Record(methods), Record(boards)
    parts = _head(record), _overview(record, method, board), _choice(record), _hard(record), _asked(record)
    return "\n".join((*parts, _fresh(record), _how(record)))


def _failing(record: Record) -> list[Row]:
    """Return the default results of hard populations that cover less than 92 %, worst first."""
    rows = [row for row in record.rows if row.part in ("hard", UNLIKE) and row.measured < 0.92]
    return sorted(rows, key=lambda row: row.measured)


def _head(record: Record) -> str:
    rows = [row for row in record.rows if row.part in ("hard", UNLIKE, HEALTHY)]
    silent = [row for row in rows if warned(row)[0] < WARNED]
    worst = min(silent, key=lambda row: row.measured, default=None)
    told = [row for row in _failing(record) if warned(row)[0] >= WARNED]
    text = """# Measured coverage

<!-- Written by validation/coverage/measure.py; change that, not this. -->

How often do our intervals contain the true value, and how often do our tests reject a true null? Measured on simulated
populations whose truth is known; `make validate` measures all of it again.

"""
    if outsiders := [row for row in _failing(record) if "outsiders" in row.population]:
        text += (
            "- **The worst case without a warning** is that of impostors whom the data do not name: with labels 0 and "
            f"1 and a column `user`, users attacked by outsiders, covered at {percent(outsiders[0].measured)} % "
            "instead of 95 %, look like any others.\n"
        )
    text += _silence(record)
    if worst is not None:
        text += (
            f"- **The worst case that fewer than {100 * WARNED:.0f} % of the results warn of** covers "
            f"{percent(worst.measured)} %: {worst.population} ({worst.method}; standard error "
            f"{percent(worst.standard_error)}; {100 * warned(worst)[0]:.0f} % warn).\n"
        )
    if told:
        first = told[0]
        share, code = warned(first)
        text += (
            f"- **The worst case with a warning** covers {percent(first.measured)} %: {first.population} "
            f"({first.method}); {100 * share:.0f} % of the results carry `{code}`.\n"
        )
    if healthy := [warned(row)[0] for row in record.of(part=HEALTHY)]:
        text += (
            f"- **Where users are alike**, {100 * sum(healthy) / len(healthy):.0f} % of the results carry a warning, "
            f"and at most {100 * max(healthy):.0f} % of any one kind.\n"
        )
    usual = [row for title in REASONABLE if (row := record.get("bands", title, default_for(title), KEPT))]
    text += f"- **In ordinary populations** of 20 to 500 users, the default covers {spread(usual)} %.\n"
    if sample := record.get("bands", GRID[3].title, "sample, percentile", KEPT):
        text += (
            f"- **Ignoring users is the mistake to avoid**: resampling trials covers {percent(sample.measured)} % "
            "where users differ strongly.\n"
        )
    return (
        text
        + """
![Coverage of the default interval and of resampling trials, population by population](images/coverage.svg)
"""
    )


def _overview(record: Record, method: Record, board: Record) -> str:
    covering = [
        [title, str(len(rows)), spread(rows)]
        for title, part, how, promise in RELIED_ON
        if (rows := record.of(part=part, method=how, promise=promise))
    ]
    rejecting = [
        [title, str(len(rows)), spread(rows)]
        for title, part, how, promise in TESTED
        if (rows := record.of(part=part, method=how, promise=promise))
    ]
    together = [row for row in method.of(part="size", method="method") if row.promise != "all alphas together"]
    pairs = [row for row in board.rows if row.promise == "familywise error"]
    for title, rows in (
        ("`compare`, as methods, at single alphas", together),
        ("`rank`, any pair wrongly told apart", pairs),
    ):
        if rows:
            rejecting.append([title, str(len({row.population for row in rows})), spread(rows)])
    return f"""## Every result at a glance

From the lowest to the highest coverage over the populations measured, nominally 95 %:

{table(["interval", "populations", "coverage, %"], covering)}
And how often a true null is rejected at the 5 % level. Tests that treat trials as independent reject far too often
where users differ:

{table(["test", "populations", "true nulls rejected, %"], rejecting)}
By default `compare` asks about methods, whose thresholds would be chosen again, and `rank` about the thresholds as they
are; `claim` chooses.

What a band covers depends on [`resample`](concepts/bootstraps.md#fixed-or-new-thresholds).

At alpha 0 and 1 the threshold is the lowest or highest score of a class, which no bootstrap can resample beyond: no
coverage is claimed there. Results about methods carry a warning below 30 development users, or 100 development trials
of a class.
"""


def _choice(record: Record) -> str:
    lines, chosen = candidates(record)
    return f"""## Why the default is {chosen}

Of the methods that never fall more than two points below 95 % on a population of 20 users or more, it is the one
nearest to 95 % on average. Where both identities of a trial are known, the default is the crossed bootstrap; where
nobody is known, the sample bootstrap, which holds only if trials are independent.

{lines}
The joint bootstrap of the 2007 paper counts the spread within users twice, and so covers too much.
"""


def _hard(record: Record) -> str:
    lines, worst = [], {}
    for row in _failing(record):
        worst.setdefault(row.population, []).append(row)
    for population, rows in worst.items():
        share, code = min(map(warned, rows))
        said = f"`{code}` in {100 * share:.0f} %" + " or more" * (len(rows) > 1 and share < 1) if share else "not all"
        method = rows[0].method.removeprefix("default, ") + (f" and {len(rows) - 1} more" if len(rows) > 1 else "")
        lines.append([population, method, spread(rows) if len(rows) > 1 else percent(rows[0].measured), said])
    if not lines:
        return ""
    return f"""## Where it fails

Results that cover less than 92 %, the worst population first, and whether they say so. Where few users make the errors
that matter, where users who try more err more, or where nobody names the impostors, no interval from the data at hand
can be sure. The rate per user (`weight="user"`, `RateInterval.rate_per_user`) does not depend on heavy users.

{table(["population", "result", "coverage, %", "warns"], lines)}"""


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
        f"may be: {worst.population} ({worst.method}), of which {share:.0f} % warn; the others cover "
        f"{percent(worst.measured)} %. Where the worst users were not drawn, a set looks like any "
        "other: no warning is no assurance.\n"
    )


def _asked(record: Record) -> str:
    """Tests, margins and plans on populations as documented and on those whose users are unlike each other."""
    kinds: dict[tuple[str, float, str], list[Row]] = {}
    for row in record.of(part=ASKED):
        kinds.setdefault((row.method, row.nominal, row.promise), []).append(row)
    lines = []
    for (method, nominal, _), rows in kinds.items():
        few = rows[0].population if len(rows) == 1 else f"{len(rows)} populations"
        wanted = f"{100 * nominal:g}" if nominal < 1 else "power"
        errors = percent(max(row.standard_error for row in rows))
        told = min(warned(row)[0] for row in rows)
        shares = percent(rows[0].measured) if len(rows) == 1 else spread(rows)
        lines.append([method, few, wanted, shares, errors, f"{100 * told:.0f}" + " or more" * (len(rows) > 1)])
    if not lines:
        return ""
    return f"""## Tests, margins and plans

How often `rank` and `compare` find a difference where there is none, how often `check --no-worse-than` passes a system
that is worse by exactly the margin (20 to 80 users, some of them harmed) or one as good (power), and how often a study
of the planned size is as narrow as asked:

{table(["result", "population", "nominal, %", "measured, %", "standard error", "warned, %"], lines)}"""


def _fresh(record: Record) -> str:
    """Populations that nothing was chosen on."""
    populations: dict[str, list[Row]] = {}
    for row in record.of(part=FRESH):
        populations.setdefault(row.population, []).append(row)
    lines = []
    for population, rows in populations.items():
        covering, testing = ([row for row in rows if (row.nominal > 0.5) == covers] for covers in (True, False))
        told = [100 * warned(row)[0] for row in rows]
        lines.append([population, spread(covering), spread(testing), f"{min(told):.0f} to {max(told):.0f}"])
    if not lines:
        return ""
    errors = percent(max(row.standard_error for row in record.of(part=FRESH)))
    return f"""## Three populations that nothing was chosen on

No interval and no caution was chosen on these: intervals of both rates at a threshold of 1.7 and of the AUC, and tests
of two systems that are equal, at 5 %. Standard errors are at most {errors} points.

{table(["population", "intervals, coverage, %", "tests, rejected, %", "warned, %"], lines)}"""


def _how(record: Record) -> str:
    kept = [row for row in record.of(part="bands", promise=KEPT) if "simultaneous" not in row.method]
    error = percent(max((row.standard_error for row in kept), default=math.nan))
    repeats = max((row.repeats for row in record.of(part="bands")), default=0)
    return f"""## How it was measured

Up to {repeats} sets of each population, drawn by `simulation.py`, which knows the true rates; standard
errors are at most {error} points for pointwise bands. Bands have 399 replicates here (10,000 by default), at alpha
0.1 to 0.9. Every number, with widths, is in `validation/coverage/RECORD.md`; as data, with standard errors and the
cautions of the results, in the files `record.csv` and `unlike.csv` there, and in `validation/method` and
`validation/leaderboards`.
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
