"""The README is short; the page of commands names every one. That commands, Python and links hold is tested there."""

from __future__ import annotations

import csv
import re

from pages import DOCS, ROOT
from priori.cli import COMMANDS


def test_every_command_is_named() -> None:
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`priori {name}`" not in page] == []


def test_the_numbers_of_the_first_picture_stand_in_the_table_of_the_run() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    said = re.search(r"with the best equal error rate, (\S+) %, has an error rate of (\S+) % at its threshold", readme)
    with (DOCS / "evidence" / "boards.csv").open(newline="", encoding="utf-8") as file:
        row = next(row for row in csv.DictReader(file) if row["board"] == "replay_laptop_phone3")
    assert said is not None
    assert said.groups() == tuple(f"{100 * float(row[name]):.1f}" for name in ("eer", "hter"))


def test_it_is_short_and_has_something_for_each_reader() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 120
    assert all(f"**{reader}**" in readme for reader in ("lab", "ML team", "statistician"))
    assert len(re.findall(r"^!\[", readme, flags=re.MULTILINE)) == 2


def test_every_folder_of_validation_is_explained_and_tested_where_it_says() -> None:
    readme = (ROOT / "validation" / "README.md").read_text(encoding="utf-8")
    folders = {path.name for path in (ROOT / "validation").iterdir() if path.is_dir() and any(path.glob("*.*"))}
    assert set(re.findall(r"^\| `(\w+)` \|", readme, flags=re.MULTILINE)) == folders
    assert [name for name in re.findall(r"`(tests/\S+?\.py)`", readme) if not (ROOT / name).exists()] == []
