"""The page: what was asked and by which protocol, then every board, then what it says. Numbers come from the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from examples.evidence import attacks
from examples.evidence.sources import SOURCES, Source

Row = dict[str, Any]

OPENING = """# Does it matter? Published scores, judged again

A ranking read on the test set (by EER, AUC, minDCF) assumes thresholds that nobody could have known. Does that change
who wins? Here are {sources} sets of scores that other people published, {boards} leaderboards in all, each shown, also
where nothing changes. `make evidence DATA=...` makes this page, its figures and its tables
([boards](evidence/boards.csv), [systems](evidence/systems.csv), [attacks](evidence/attacks.csv)).

## How it was judged, decided before looking

- **A priori**: the threshold minimises (FAR + FRR)/2 on the development set (alpha 0.5); the value is the HTER of that
  threshold on the test set. **A posteriori**: the EER of the test set.
- Only trials that all systems have count; a system that lacks more than a tenth of them is left out.
- Users (speakers, texts) are resampled, 10,000 times. The interval of a rank holds for all systems of a board at once.
  *Deployed* is about these thresholds, *method* about systems tuned on other development sets like this one.
- A system **moves** if its gain or loss of ranks is more than chance, all systems of the board taken together at 95 %.
  That is wrong on at most one board in twenty: of {boards} boards about {chance:.0f} by chance alone. *Deployed*, a
  system also moves because its one threshold is unlucky; *method* leaves that luck out. The controls, two halves of one
  population, show how many move without a shift.

## In one table

{summary}

*Changed winner*: the first by EER is surely not the first a priori (the interval of its rank begins after 1, deployed).
In the controls some systems move too: the EER and the HTER are different measures, and 61 detectors on 75 texts are
more than the test of moves was made for. Read the shifts beside their controls.

{reading}
"""


def page(rows: Sequence[Row], curve: Any, attack_rows: Sequence[Row], figures: dict[str, list[tuple[str, str]]]) -> str:
    """Return the page; ``figures`` has for each source the names of its figures and what to see in them."""
    parts = [
        OPENING.format(
            sources=len(SOURCES) + 1,
            boards=len(rows),
            chance=len(rows) / 20,
            summary=_summary(rows),
            reading=_reading(rows, curve, attack_rows),
        )
    ]
    for source in SOURCES:
        own = [row for row in rows if row["source"] == source.key]
        parts.append(_section(source, own, figures.get(source.key, [])))
    parts.append(_attacks(curve, attack_rows))
    return "\n".join(parts)


def _summary(rows: Sequence[Row]) -> str:
    lines = []
    for source in SOURCES:
        for kind, words in (("shift", ""), ("control", ", control: one domain in halves")):
            own = [row for row in rows if row["source"] == source.key and row["kind"] == kind]
            if own:
                taus = sorted(float(row["tau"]) for row in own)
                cells = (
                    f"[{source.title}](#{_anchor(source.title)}){words}",
                    len(own),
                    own[0]["systems"],
                    f"{taus[len(taus) // 2]:.2f} ({taus[0]:.2f} to {taus[-1]:.2f})",
                    sum(row["moving"] > 0 for row in own),
                    sum(row["method_moving"] > 0 for row in own),
                    sum(changed(row) for row in own),
                )
                lines.append(cells)
    return _table(
        ("scores", "boards", "systems", "tau: median (all)", "boards with moves: deployed", "method", "changed winner"),
        lines,
    )


def changed(row: Row) -> bool:
    """Tell whether the first by EER is surely not the best at thresholds fixed in advance."""
    return row["rank_lower"] > 1


def _reading(rows: Sequence[Row], curve: Any, attack_rows: Sequence[Row]) -> str:
    """Return what the table says, in words with its numbers."""
    shifts = [row for row in rows if row["kind"] == "shift" and row["source"] in ("glimpse", "fast-detect-gpt")]
    controls = [row for row in rows if row["kind"] == "control"]
    attack = next(row for row in rows if row["board"] == "replay_laptop_phone3")
    return f"""**What a reader of the EER would have concluded, and what happens**: on the attack `replay_laptop_phone3`
the entry {attack["first_by_eer"]} has the best EER, {_percent(attack["eer"])}, and at the threshold it was handed in
with the worst HTER of the five, {_percent(attack["hter"])}. Texts of another domain change who wins on
{sum(changed(row) for row in shifts)} of {len(shifts)} boards; halves of one domain on
{sum(changed(row) for row in controls)} of {len(controls)}. **Without a shift between development and test the two
rankings agree**, and a reader of the EER loses little; with one, the EER cannot see it."""


def _section(source: Source, rows: Sequence[Row], figures: Sequence[tuple[str, str]]) -> str:
    columns = (
        "board",
        "tau",
        "moving (method)",
        "first by EER",
        "EER",
        "its HTER",
        "its rank (method)",
        "first a priori",
        "its HTER",
    )
    lines = [
        (
            row["board"],
            f"{row['tau']:.2f} ({row['tau_lower']:.2f} to {row['tau_upper']:.2f})",
            f"{row['moving']} ({row['method_moving']})",
            row["first_by_eer"],
            _percent(row["eer"]),
            _percent(row["hter"]),
            f"{row['rank_lower']} to {row['rank_upper']} ({row['method_rank_lower']} to {row['method_rank_upper']})",
            row["first_a_priori"],
            _percent(row["its_hter"]),
        )
        for row in rows
    ]
    pictures = "\n\n".join(f"![{see}](evidence/{name})" for name, see in figures)
    return f"""## {source.title}

**Published by** {source.published}

**Asked**: {source.asked}

**Protocol**: {source.protocol}

{_table(columns, lines)}

{pictures}
"""


def _attacks(curve: Any, rows: Sequence[Row]) -> str:
    point = curve.at(0.5)
    lines = [
        (row["attack"], row["trials"], _percent(row["iapmr"]), f"{_percent(row['lower'])} to {_percent(row['upper'])}")
        for row in rows
    ]
    return f"""## {attacks.TITLE}

**Published by** {attacks.PUBLISHED}

**Protocol**: {attacks.PROTOCOL}

Without attacks the HTER is {point.value[0]:.1%}. At the same threshold, of all attacks {_percent(rows[0]["iapmr"])} get
in: a single number that leaves attacks out says nothing about them. [How to look at
attacks](howto/attacks.md) chooses thresholds that know of them.

{_table(("attack", "trials", "gets in (IAPMR)", "95 % interval"), lines)}
"""


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _percent(rate: Any) -> str:
    return f"{float(rate):.1%}".replace("%", " %")


def _anchor(title: str) -> str:
    return "".join(mark for mark in title.lower().replace(" ", "-") if mark.isalnum() or mark == "-")
