"""Every library that Priori brings, and every table of scores in it, has a licence that the documentation lists."""

from __future__ import annotations

import re
import sys

import pytest

from pages import DOCS, ROOT
from priori.examples import ABOUT

pytest.importorskip("packaging")
sys.path.insert(0, str(ROOT / "tools"))
from dependencies import LICENCES, PURPOSES, direct, licences

PAGE = (DOCS / "reference/dependencies.md").read_text(encoding="utf-8")


def test_every_library_is_on_the_page_with_its_lowest_version_and_its_purpose() -> None:
    assert list(PURPOSES) == list(direct())
    for name, (extra, lowest) in direct().items():
        shown = f"`{extra}` " if extra else ""
        row = rf"^\| {shown}\| {name} \| {re.escape(lowest)} to [^|]+ \| \d+ \| {re.escape(PURPOSES[name])} \|$"
        assert re.search(row, PAGE, flags=re.MULTILINE), name


def test_every_library_here_has_a_free_licence_and_is_listed_under_it() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([a-z0-9, -]+) \|$", PAGE, flags=re.MULTILINE)
    listed = {name: licence for licence, names in rows for name in names.split(", ")}
    assert set(direct()) <= set(listed)
    for licence, names in licences().items():
        assert licence in LICENCES.values(), f"{names}: {licence!r} is no licence that we know to be free to use"
        # What other versions need may differ from what the page was written with.
        assert [name for name in names if listed.get(name, licence) != licence] == []


def test_every_table_of_scores_has_a_licence_on_the_page() -> None:
    tables = {path.name.removesuffix(".csv.gz") for path in (ROOT / "src/priori/examples").glob("*.gz")}
    assert tables == set(ABOUT)
    terms = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE.partition("| scores |")[2], flags=re.MULTILINE))
    assert terms.keys() == tables
    for name, about in ABOUT.items():
        assert about.licence.startswith("Scores: BSD-3-Clause"), name
        asked = re.findall(r"MIT|CC BY 4\.0|credit to Olivetti|free to use", about.licence)
        assert len(asked) == 1
        assert asked[0] in terms[name]
