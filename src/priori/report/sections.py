"""Sections: parts of the page that appear where the data have them; adding one is one entry and one template.

A section's function takes the study (``study.members[n].curve.dev`` and ``.test`` are the scores of its systems) and
returns what its template needs, or None where there is nothing to show. The template is given that as ``here``, beside
everything the page has: ``study``, ``static``, ``level``, ``parts`` (``parts.table(table, static)`` shows a
`TextTable`). Figures are drawn by `priori.report.figures.drawn`, and are the same with scripts and without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from priori.report.attacked import attacked
from priori.report.calibration import calibration
from priori.report.limits import limits
from priori.report.people import groups, users
from priori.report.settling import settling
from priori.studies.evaluation import Study


@dataclass(frozen=True)
class Section:
    """A part of the page: ``key`` is its place in a link, ``template`` its partial in ``templates/sections``."""

    key: str
    title: str
    template: str
    context: Callable[[Study], dict[str, Any] | None]


#: In the order of the page, after the curves.
SECTIONS: tuple[Section, ...] = (
    Section("limits", "With a limit on one rate", "sections/limits.html", limits),
    Section("calibration", "Calibration", "sections/calibration.html", calibration),
    Section("settling", "What would settle it", "sections/settling.html", settling),
    Section("groups", "Rates by group", "sections/groups.html", groups),
    Section("users", "Who makes the errors", "sections/users.html", users),
    Section("attacks", "Under attack", "sections/attacks.html", attacked),
)  # fmt: skip


def sections_of(study: Study) -> list[tuple[Section, dict[str, Any]]]:
    """Return the sections that the data have, each with what its template needs."""
    found = ((section, section.context(study)) for section in SECTIONS)
    return [(section, context) for section, context in found if context is not None]
