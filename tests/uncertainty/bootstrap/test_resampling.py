"""One description of a resampling: signatures, options and forms say what it says."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace

import click
import numpy as np
import pytest

import priori
from four_users import small
from priori import OptionError, Scores
from priori.app.choices import RESAMPLING, Choices
from priori.app.limits import Limits
from priori.base.options import TYPED
from priori.cli import cli
from priori.cli.commands import replicates
from priori.cli.options import OPTIONS
from priori.curves.epc import EPC
from priori.curves.roc import AposterioriROC
from priori.studies.evaluation.settings import Settings
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS, USER
from priori.uncertainty.bootstrap.resampling import Resampling
from validation.coverage.simulation import population

ONE_SET = {"resample", "shared_users"}
#: Functions that write the description out, and what they have no use for.
WRITTEN_OUT = {
    "EPC.band": (EPC.band, set()),
    "compare": (priori.compare, {"resample"}),  # a claim instead
    "compare_all": (priori.compare_all, {"resample"}),
    "AposterioriROC.band": (AposterioriROC.band, ONE_SET),
    "Settings": (Settings, {"bootstrap", "rng"}),  # auto by default, and a seed
}
OTHERS = {
    "bootstrap": "joint",
    "n_resamples": 7,
    "resample": "both",
    "confidence_level": 0.8,
    "interval": "centred",
    "simultaneous": True,
    "rng": 5,
    "shared_users": False,
}


def curve() -> priori.EPC:
    return priori.epc(small(1), small(2), points=3)


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_signatures_are_the_description_written_out(name):
    function, left_out = WRITTEN_OUT[name]
    parameters = inspect.signature(function).parameters
    for field in fields(Resampling):
        if field.name in left_out:
            assert name == "Settings" or field.name not in parameters
            continue
        parameter = parameters[field.name]
        assert (parameter.default, parameter.annotation) == (field.default, field.type), field.name
        assert name == "Settings" or parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    assert parameters["threads"].default is None


class _SettledError(Exception):
    """Carries what was described, before anything is drawn."""


@pytest.mark.parametrize("option", OTHERS)
@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_every_option_reaches_the_description(name, option, monkeypatch):
    def settle(self, dev, test, curve=None, *, measures=(), threads=None, progress=None):
        raise _SettledError(self)

    monkeypatch.setattr(Resampling, "settle", settle)
    _, left_out = WRITTEN_OUT[name]
    if option in left_out:
        pytest.skip("it has no such option")
    given, test = {option: OTHERS[option]}, small(2)
    other = priori.epc(small(1), test, points=3, name="B")
    if name == "Settings":
        assert Settings(**given).resampling == Resampling(**given)
        return
    calls = {
        "EPC.band": lambda: curve().band(**given),
        "compare": lambda: priori.compare(curve(), curve(), claim="deployed", **given),
        "compare_all": lambda: priori.compare_all([curve(), other], claim="deployed", **given),
        "AposterioriROC.band": lambda: priori.roc(test).band(**given),
    }
    with pytest.raises(_SettledError) as caught:
        calls[name]()
    described = caught.value.args[0]
    assert getattr(described, option) == OTHERS[option]
    others = {field.name for field in fields(Resampling)} - {option, "bootstrap"}
    assert all(getattr(described, other) == getattr(Resampling(), other) for other in others)


def test_a_seed_of_settings_is_the_rng():
    assert Settings(seed=7).resampling == Resampling(rng=7)
    assert Settings(bootstrap="user").resampling == Resampling(bootstrap="user")


#: What a command has no use for: a comparison says by its claim which sets vary, a curve a posteriori has one set.
LEFT_OUT = {"compare": {"resample"}, "roc": ONE_SET, "det": ONE_SET}


@pytest.mark.parametrize("command", ["epc", "compare", "report", "roc", "det"])
def test_the_command_line_has_every_field(command):
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    keys = {text.lstrip("-"): each for each in found.params for text in (*each.opts, *each.secondary_opts)}
    keys = {text.replace("-", "_"): each for text, each in keys.items()}
    for field in fields(Resampling):
        name = TYPED[field.name]
        if name in LEFT_OUT.get(command, set()):
            assert name not in keys
            continue
        if name == "bootstrap":
            continue
        default = keys[name].default
        if isinstance(field.default, bool) or field.default is None:
            assert not isinstance(default, (int, float, str)) or default == field.default
        else:
            assert str(default) == str(field.default)
    assert keys.get("own_users") is keys.get("shared_users")


def test_the_form_has_the_same_defaults():
    assert [*RESAMPLING] == [name for name in TYPED.values() if name not in ("interval", "shared_users")]
    for field in fields(Resampling):
        name = TYPED[field.name]
        if name in RESAMPLING and name != "bootstrap":
            assert getattr(Choices(), name) == field.default
            assert type(getattr(Choices(), name)) is type(field.default)
    assert Choices.from_fields({}, Limits()).settings().resampling == Resampling()


@pytest.mark.parametrize("field", ["level", "resamples", "seed"])
def test_the_form_takes_what_is_within_its_limits(field):
    form = RESAMPLING[field]
    most = Limits().resamples if form.most is None else form.most
    for limit in (form.least, most):
        assert getattr(Choices.from_fields({field: f"{limit:.10g}"}, Limits()), field) == limit


@pytest.mark.parametrize("settings", [{"n_resamples": True}, {"rng": 1.5}, {"rng": True}, {"n_resamples": [3, 0]}])
def test_types_are_checked_where_it_is_made(settings):
    with pytest.raises(OptionError, match="whole number"):
        Resampling(**settings)


def test_numbers_of_numpy_and_lists_are_numbers():
    plan = Resampling(n_resamples=[np.int64(3), 4], bootstrap="joint", rng=np.int64(2)).settle(None, small(2))
    assert (plan.n_resamples, plan.inner, plan.seed) == (12, 4, 2)
    assert plan.shared_users is False  # with a development set that is not drawn


def test_a_generator_is_asked_once_a_run():
    generator = np.random.default_rng(3)
    first = curve().band(n_resamples=5, rng=generator).settings["seed"]
    second = curve().band(n_resamples=5, rng=generator).settings["seed"]
    expected = np.random.default_rng(3).integers(0, 2**63 - 1, size=2)
    assert [first, second] == expected.tolist()


def test_calibration_is_measured_once_a_band(monkeypatch):
    calls = []
    original = type(USER).calibrate

    def counted(self, *args, **options):
        calls.append(1)
        return original(self, *args, **options)

    monkeypatch.setattr(type(USER), "calibrate", counted)
    curve().band(bootstrap="user", n_resamples=20)
    assert len(calls) == 1
    priori.compare(curve(), curve(), bootstrap="user", claim="deployed", unpaired=True, n_resamples=20)
    assert len(calls) == 3


def test_a_development_set_far_smaller_than_the_test_set_is_said():
    rng = np.random.default_rng(0)
    large, few = (Scores.from_arrays(rng.normal(0, 1, n), rng.normal(2, 1, n)) for n in (1000, 30))
    codes = {
        (resample, dev is few): {line.code for line in Resampling(resample=resample).settle(dev, large).warnings}
        for resample in ("test", "both")
        for dev in (large, few)
    }
    assert codes == {
        ("test", False): set(),
        ("test", True): set(),
        ("both", False): set(),
        ("both", True): {"small-development"},
    }


def test_unknown_impostors_are_said_where_users_differ_in_false_acceptances():
    named, alike = (population(40, 9, 40, user_effect_sd=sd, rng=3) for sd in (1.0, 0.0))
    wanted = {("hter", "far", "wer", "f1"): True, ("frr", "recall"): False}

    def said(scores, **options):
        curve = priori.epc(scores, scores, alpha=[0.5], **options)
        return "unknown-impostors" in {line.code for line in curve.band(n_resamples=20).warnings}

    for measures, expected in wanted.items():
        for measure in measures:
            assert said(replace(named, nobody=("attack",)), measure=measure) == expected, measure
            assert not said(named, measure=measure)
            assert not said(replace(alike, nobody=("attack",)), measure=measure)
            plain = Scores.from_arrays(named.negatives, named.positives)
            assert not said(plain, measure=measure)


@pytest.mark.parametrize(("text", "number"), [("10000", 10000), ("100x20", (100, 20)), ("3 × 4", (3, 4))])
def test_numbers_of_replicates_as_typed(text, number):
    assert replicates(text) == number


@pytest.mark.parametrize("text", ["0", "", "x", "1x2x3", "5x", "5x0", "-1", "1.5", "ten"])
def test_what_is_no_number_of_replicates(text):
    with pytest.raises(OptionError, match="write a whole number such as 10000, or USERSxSAMPLES such as 100x100"):
        replicates(text)


def test_the_help_of_intervals_names_the_bootstraps_that_are_not_calibrated() -> None:
    plain = sorted(name for name, bootstrap in BOOTSTRAPS.items() if not bootstrap.calibrated)
    said = OPTIONS["interval"].help
    assert f"percentile for the {' and the '.join(plain)} bootstrap" in said
