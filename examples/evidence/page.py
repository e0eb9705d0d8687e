"""The page: every board, what it says, and by which protocol it was judged. Numbers come from the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from examples.evidence import attacks
from examples.evidence.sources import SOURCES, Source

Row = dict[str, Any]

OPENING = """# Does it matter? Published scores, judged again

A ranking read on the test set (by EER, AUC, minDCF) assumes thresholds that nobody could have known. Does that change
who wins? We judged {sources} sets of scores that other people published, {boards} leaderboards. All are listed in
[boards.csv](evidence/boards.csv) (and [systems](evidence/systems.csv), [attacks](evidence/attacks.csv)), including
those where nothing changes. `make evidence DATA=...` makes this page.

{summary}

*Changed winner*: the first by EER is, with confidence, not the first a priori (the interval of its rank begins after
1). A system *moves* if it gains or loses more ranks than chance allows, all systems of a board together at 95 %: about
{chance:.0f} of {boards} boards would have a move by chance alone. The controls, two halves of one population, show how
many move without a shift.

{reading}

![What the EER promises and what happens: replay_laptop_phone3](evidence/btas2016-attack.svg)

![How alike the two rankings are, board by board: another domain, and halves of one domain](evidence/tau.svg)

![Expected Performance Curves with 95 % bands: replay_laptop_phone3](evidence/btas2016-curves.svg)

{told}
{case}
## How it was judged, decided before looking

- **A priori**: the threshold minimises (FAR + FRR)/2 on the development set (alpha 0.5); the value is the HTER of that
  threshold on the test set. **A posteriori**: the EER of the test set.
- Only trials that all systems have count; a system that lacks more than a tenth of them is left out.
- Users (speakers, texts) are resampled 10,000 times. The interval of a rank holds for all systems of a board at once.
  [*Deployed*, *method*](tests.md#two-curves-compare) are the two claims.
"""

CASE = """## One board

Five teams entered the BTAS 2016 speaker anti-spoofing competition (Korshunov et al., 2016). Its test set has two
attacks that its development set lacks; one is `{board}`. By the EER on that attack {first} comes first with {eer}.
At its threshold, fixed on the attacks that were known, its HTER is {hter}, and its rank among the five is
{rank} (95 % confidence). {best} comes first a priori with {its_hter}.
"""


def page(rows: Sequence[Row], curve: Any, attack_rows: Sequence[Row], told: str) -> str:
    """Return the page; ``told`` is the section about a published conclusion."""
    case = next(row for row in rows if row["board"] == "replay_laptop_phone3")
    case_told = CASE.format(
        board=case["board"],
        first=case["first_by_eer"],
        best=case["first_a_priori"],
        rank=case["rank_lower"] if case["rank_lower"] == case["rank_upper"] else f"{case['rank_lower']} or worse",
        **{name: _percent(case[name]) for name in ("eer", "hter", "its_hter")},
    )
    opening = OPENING.format(
        sources=len(SOURCES) + 1,
        boards=len(rows),
        chance=len(rows) / 20,
        summary=_summary(rows),
        reading=_reading(rows),
        case=case_told,
        told=told,
    )
    return "\n".join((opening, *map(_section, SOURCES), _attacks(curve, attack_rows)))


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
    """Tell whether the first by EER is, with confidence, not the best at thresholds fixed in advance."""
    return row["rank_lower"] > 1


def _reading(rows: Sequence[Row]) -> str:
    """Return what the table says, in words with its numbers."""
    shifts = [row for row in rows if row["kind"] == "shift" and row["source"] in ("glimpse", "fast-detect-gpt")]
    controls = [row for row in rows if row["kind"] == "control"]
    return f"""**Without a shift between development and test the two rankings agree**, and reading the EER does little
harm: halves of one domain change who wins on {sum(changed(row) for row in controls)} of {len(controls)} boards.
**With one, the EER cannot see it**: texts of another domain change who wins on {sum(changed(row) for row in shifts)} of
{len(shifts)}."""


def _section(source: Source) -> str:
    return f"""## {source.title}

**Published by** {source.published}

**Protocol**: {source.protocol}
"""


def _attacks(curve: Any, rows: Sequence[Row]) -> str:
    point = curve.at(0.5)
    shares = [float(row["iapmr"]) for row in rows[1:]]
    return f"""## {attacks.TITLE}

**Published by** {attacks.PUBLISHED}

**Protocol**: {attacks.PROTOCOL}

Without attacks the HTER is {point.value[0]:.1%}. At the same threshold, of all attacks {_percent(rows[0]["iapmr"])} get
in, and of the {len(shares)} attacks one by one {_percent(min(shares))} to {_percent(max(shares))}
([attacks](evidence/attacks.csv)). [My system is attacked](howto/attacks.md) chooses thresholds against attacks too.
"""


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _percent(rate: Any) -> str:
    return f"{float(rate):.1%}".replace("%", " %")


def _anchor(title: str) -> str:
    return "".join(mark for mark in title.lower().replace(" ", "-") if mark.isalnum() or mark == "-")
