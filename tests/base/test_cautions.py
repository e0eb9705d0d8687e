"""Cautions: a text with a code that survives copies and files."""

import copy
import pickle
import re
from pathlib import Path

from priori.base.caution_codes import CODES
from priori.base.cautions import Caution, gravest_first, joined, labelled, of_systems, said_of
from priori.words.headline import UNTRUSTED

ROOT = Path(__file__).parents[2]
FEW, TIES = Caution("few-units", "only 8 users"), Caution("ties", "many equal scores")


def test_a_caution_is_its_text_and_keeps_its_code() -> None:
    for each in (FEW, copy.deepcopy(FEW), pickle.loads(pickle.dumps(FEW)), said_of("A", FEW)):
        assert isinstance(each, Caution)
        assert each.code == "few-units"
    assert FEW == "only 8 users"
    assert said_of("A", FEW) == "A: only 8 users"
    assert (FEW.level, FEW.heading, FEW.sentence) == ("warning", "Few users", "Only 8 users.")
    assert Caution("shared-users", "x").level == "note"


def test_a_line_for_people_names_the_code() -> None:
    assert labelled(FEW) == "warning [few-units]: only 8 users"
    assert labelled(Caution("unbalanced", "9 to 1")) == "note [unbalanced]: 9 to 1"
    assert labelled("mind this") == "warning: mind this"


def test_what_all_systems_share_is_said_once() -> None:
    assert of_systems([("A", [FEW, TIES]), ("B", [FEW])]) == ("only 8 users", "A: many equal scores")
    assert of_systems([("A", [TIES]), ("B", [])])[0].code == "ties"  # type: ignore[attr-defined]
    assert of_systems([("A", [FEW])]) == ("only 8 users",)


def test_three_systems_are_named_and_the_others_counted() -> None:
    same = [("A", [FEW]), *((name, [TIES]) for name in "BCDEF")]
    assert of_systems(same) == ("A: only 8 users", "B, C, D and 2 others: many equal scores")
    assert of_systems(same[:4])[1] == "B, C, D: many equal scores"
    assert of_systems(same[:5])[1] == "B, C, D and 1 other: many equal scores"
    own = [(name, [Caution("few-units", f"only {number} users")]) for number, name in enumerate("ABCDEFGH", 4)]
    assert of_systems(own[:2]) == ("A: only 4 users (also B)",)
    assert of_systems(own[:4]) == ("A: only 4 users (also 3 others)",)
    (line,) = of_systems(own)
    assert line == "A: only 4 users (also 7 others)"
    assert line.code == "few-units"  # type: ignore[attr-defined]
    assert of_systems([("a", [FEW]), ("b", [])])[0].sentence == "a: only 8 users."  # type: ignore[attr-defined]
    assert FEW.sentence == "Only 8 users."
    # what else is said of the same system is not lost
    twice = [("A", [FEW, Caution("few-units", "2 in the test set")]), ("B", [Caution("few-units", "only 9 users")])]
    assert of_systems(twice) == ("A: only 8 users (also B)", "A: 2 in the test set")
    twice[1][1].append(twice[0][1][1])
    assert of_systems(twice) == ("A: only 8 users", "2 in the test set")
    assert of_systems([(name, list(lines)) for name, lines in zip("AB", ("xyz", "w"), strict=True)]) == (
        "A: x",
        "A: y",
        "A: z",
        "B: w",
    )


def test_an_earlier_group_speaks_for_the_later_ones() -> None:
    again = Caution("few-units", "few")
    assert joined([FEW, TIES], [again, Caution("missing", "2 scores")]) == ("only 8 users", TIES, "2 scores")
    assert joined([FEW, again]) == (FEW, again)


def test_every_code_in_the_source_is_registered_and_documented() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src" / "priori").rglob("*.py"))
    used = set(re.findall(r'Caution\(\s*"([a-z-]+)"', source))
    assert used <= set(CODES)
    for code, kind in CODES.items():
        assert (ROOT / "docs" / f"{kind.page}.md").is_file(), code
        for text in (kind.meaning, kind.matters, kind.remedy):
            assert re.fullmatch(r"[A-Z-].*[.]", text), code
            assert len(text) <= 140, code


def test_warnings_come_before_notes_and_untrusted_data_first() -> None:
    levels = [kind.level for kind in CODES.values()]
    assert levels == sorted(levels, reverse=True)
    assert {*list(CODES)[: len(UNTRUSTED)]} == {*UNTRUSTED}
    assert gravest_first(["no code", TIES, FEW]) == [FEW, TIES, "no code"]
