"""The form's fields, one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priori.app.choices import Choices, command_of, in_form_words
from priori.app.limits import FieldErrors, Limits
from priori.base.errors import OptionError

NAMES = list(Choices.__dataclass_fields__)


def test_an_empty_form_means_the_defaults():
    assert Choices.from_fields({}, Limits()) == Choices()


def test_what_is_chosen_reaches_the_report():
    fields = {
        "task": "retrieval",
        "criterion": "target-v1",
        "measure": "f2",
        "alpha": "99/109",
        "bootstrap": "none",
        "resamples": "500",
        "level": "0.9",
        "seed": "7",
        "columns": " score = similarity , user=model ",
        "lower_is_better": "1",
    }
    chosen = Choices.from_fields(fields, Limits())
    settings = chosen.settings()
    assert settings.task == "retrieval"
    assert settings.alpha == Fraction(99, 109)
    assert settings.bootstrap is None
    assert (settings.n_resamples, settings.confidence_level, settings.seed) == (500, 0.9, 7)
    assert chosen.column_names() == {"score": "similarity", "user": "model"}
    assert chosen.lower_is_better


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("task", "cooking"),
        ("criterion", "best"),
        ("measure", "nope"),
        ("measure", "wer:7"),
        ("measure", "f" * 200),
        ("measure", "f999999999"),
        ("measure", "f-beta:1e300"),
        ("measure", "f0.123456789"),
        ("measure", "f-beta:inf"),
        ("alpha", "2"),
        ("alpha", "1e-999999999"),
        ("alpha", "1/0"),
        ("alpha", "nan"),
        ("alpha", "-1"),
        ("alpha", "٠"),
        ("bootstrap", "all"),
        ("resamples", "1e9"),
        ("resamples", "99"),
        ("resamples", "200000"),
        ("resamples", "9" * 99),
        ("level", "1"),
        ("level", "0"),
        ("level", "95"),
        ("seed", "-1"),
        ("seed", "x"),
        ("nan", "keep"),
        ("format", "pickle"),
        ("columns", "score"),
        ("columns", "colour=red"),
        ("columns", "x" * 2000),
        ("positive", "x" * 300),
        ("example", "../faces"),
        ("simultaneous", "maybe"),
        ("title", "x" * 300),
    ],
)
def test_a_bad_value_is_told_next_to_its_field_in_one_short_line(field, text):
    with pytest.raises(FieldErrors) as caught:
        Choices.from_fields({field: text}, Limits())
    assert list(caught.value.errors) == [field]
    message = caught.value.errors[field]
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ("a policy (\x1fnan\x1f): 'drop'", "a policy ('Scores that are NaN'): 'drop'"),
        ("(\x1fcolumns={'user': NAME}\x1f)", "('Names of columns': user=NAME)"),
        ("(\x1fpos_label=VALUE\x1f): all", "('Positive label'): all"),
        ("with \x1fformat='bob4'\x1f or voxceleb", "with 'Format': bob4 or voxceleb"),
        ("(\x1funpaired=True\x1f)", "('The systems were tested on different trials')"),
        ("\x1fn_resamples\x1f must be a whole number", "'Resamples' must be a whole number"),
        ("read them (\x1fengine='memory'\x1f)", "read them (engine='memory')"),
    ],
)
def test_arguments_that_an_error_marks_become_fields_of_the_form(marked, said):
    error = OptionError(marked.replace("\x1f", ""))
    error.marked = marked
    assert in_form_words(error) == said


@given(st.dictionaries(st.sampled_from(NAMES), st.text(max_size=30), max_size=6))
def test_no_text_makes_it_fail_in_another_way(fields):
    wrong: dict[str, str] = {}
    try:
        Choices.from_fields(fields, Limits()).settings()
    except FieldErrors as error:
        wrong = error.errors
    assert set(wrong) <= {*NAMES, "form"}


def test_groups_attacks_and_the_claim_reach_the_reader_and_the_command() -> None:
    fields = {"columns": "score=similarity", "group": " sex ", "attack": "kind", "claim": "deployed"}
    chosen = Choices.from_fields(fields, Limits())
    assert chosen.reading()["columns"] == {"score": "similarity", "group": "sex", "attack": "kind"}
    assert chosen.settings().claim == "deployed"
    command = command_of([("A", "dev.csv", "test.csv")], None, chosen)
    assert command == (
        "priori report --system A dev.csv test.csv --claim deployed --column score=similarity --column group=sex "
        "--column attack=kind -o report.html"
    )
    with pytest.raises(FieldErrors) as error:
        Choices.from_fields({"claim": "best", "group": "x" * 300}, Limits())
    assert set(error.value.errors) == {"claim", "group"}
