"""Names and numbers as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priori.decisions.measures import get_measure
from priori.words.numbers import (
    abridged,
    aggregate,
    bounds,
    clean,
    counted,
    decision,
    gap,
    interval,
    listing,
    ordinal,
    per_thousand,
    per_thousand_range,
    percent,
    possessive,
    short,
    threshold_text,
    told_apart,
    value,
)

HTER, DCF = get_measure("hter"), get_measure("dcf")


@pytest.mark.parametrize(
    ("rate", "shown"),
    [
        (0.098, "9.8 %"),
        (0.5, "50.0 %"),
        (1.0, "100.0 %"),
        (0.0, "0 %"),
        (0.0042, "0.42 %"),
        (0.00031, "0.031 %"),
        (1e-9, "0.000000 %"),
    ],
)
def test_percent(rate: float, shown: str) -> None:
    assert percent(rate) == shown


def test_numbers() -> None:
    assert value(0.098, HTER) == "9.8 %"
    assert value(0.01234567, DCF) == "0.01235"
    assert interval(0.09, 0.071, 0.129, HTER) == "7.1–12.9"
    assert interval(0.001, 0.0, 0.0021, HTER) == "0.00–0.21"
    assert interval(0.0095, 0.0069, 0.025, HTER) == "0.69–2.50"  # as precise as the value before it, 0.95 %
    assert interval(0.015, 0.01, 0.02, DCF) == "0.01 to 0.02"
    assert interval(0.09, 0.07149, 0.12901, HTER) == "7.1–13.0"  # outwards
    assert bounds(-0.012341, 0.012341, True) == "−1.24 to 1.24"
    assert bounds(0.0123456, 0.0234561, False) == "0.01234 to 0.02346"
    assert [per_thousand(rate) for rate in (0.00095, 0.000951, 0.00994, 0.00995)] == ["0.95", "1.0", "9.9", "10"]
    assert per_thousand_range(0.0143, 0.0377) == "14 to 38"
    assert per_thousand_range(0.0, 0.00391) == "0.0 to 4.0"
    assert told_apart(14.71, 14.74, lambda number: f"{number:.1f} %", " %") == ("14.71 %", "14.74 %")
    assert told_apart(2.1e-6, 3.1e-6, lambda _: "0") == ("0.000002", "0.000003")  # six decimals at most
    assert told_apart(2.1e-7, 3.1e-7, lambda _: "0") == ("0", "0")
    assert told_apart(14.7, 14.7, lambda number: f"{number:.1f} %", " %") == ("14.7 %", "14.7 %")
    assert gap(-0.034, HTER) == "3.4 points"
    assert gap(0.01, HTER) == "1.0 point"
    assert gap(0.0123, DCF) == "0.0123"
    assert threshold_text("inf") == "reject all"
    assert decision("-inf", distances=True) == "accept every trial"
    assert decision("0.25", distances=False) == "accept when the score is greater than 0.25"


def test_words() -> None:
    assert possessive("A") == "A's"
    assert possessive("eigenfaces") == "eigenfaces'"
    assert listing(["A"]) == "A"
    assert listing(["A", "B"]) == "A and B"
    assert listing(["A", "B", "C"], "or") == "A, B or C"
    assert [counted(number, "user") for number in (0, 1, 1200)] == ["no user", "1 user", "1,200 users"]
    assert [aggregate(get_measure(name)) for name in ("hter", "f1", "mcc")] == ["HTER", "F1", "matthews correlation"]


@given(st.text(max_size=300))
def test_any_name_fits_a_sentence(name: str) -> None:
    shown = short(name)
    assert 0 < len(shown) <= 42
    assert not any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for char in shown)
    assert not any(char in shown for char in "\u202e\u202d\u2066\u200f")
    assert shown.count("\u2068") == shown.count("\u2069")
    shown.encode("utf-8")


def test_names_that_turn_the_text_round_are_set_apart() -> None:
    assert short("a\u202eb") == "ab"
    assert short("a\u202a\u202e\u2066\u2069\u200e\u200f\u061cb") == "ab"
    assert short("a\u2029\u202fb\u2065\u206a") == "a b\u2065\u206a"  # their neighbours turn nothing
    assert short("مرحبا") == "\u2068مرحبا\u2069"
    assert short("  ") == "(no name)"
    assert clean("a\nb\x00c\udcff") == "a b\ufffdc\ufffd"


def test_places_are_counted_in_english() -> None:
    numbers = (1, 2, 3, 4, 10, 11, 12, 13, 20, 21, 22, 23, 101, 111, 112, 113)
    assert " ".join(map(ordinal, numbers)) == (
        "1st 2nd 3rd 4th 10th 11th 12th 13th 20th 21st 22nd 23rd 101st 111th 112th 113th"
    )


def test_long_lists_are_abridged() -> None:
    assert abridged(list("ABCD")) == "A, B, C and D"
    assert abridged(list("ABCDE"), "or") == "A, B, C or 2 others"
    assert abridged(list("ABCDEFG"), most=6) == "A, B, C, D, E and 2 others"
