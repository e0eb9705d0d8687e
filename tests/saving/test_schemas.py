"""Schemas: made from the classes, they fit every document and refuse what is not one."""

from __future__ import annotations

import importlib
import json
import pkgutil
from functools import cache

import jsonschema
import pytest
from click.testing import CliRunner

import priori
from priori.base.declarations import columns_of, optional_columns
from priori.base.errors import OptionError
from priori.base.results import Result
from priori.cli import cli
from priori.saving.documents import HEAD, RESULTS, bundle, class_of, schema
from results import every_result


def _all_classes() -> set[str]:
    """Import every module of the package and name the results it defines."""
    for module in pkgutil.walk_packages(priori.__path__, "priori."):
        if not module.name.endswith("__main__") and ".sklearn" not in module.name:
            importlib.import_module(module.name)
    waiting, found = [Result], set()
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        found |= {kind.__name__ for kind in below if kind.__module__.startswith("priori.") and kind.__name__[0] != "_"}
    return found


def test_every_result_can_be_saved_and_is_tried_here() -> None:
    assert set(RESULTS) == _all_classes()
    assert {type(found).__name__ for found in every_result().values()} == set(RESULTS)
    for name in RESULTS:
        assert issubclass(class_of(name), Result)


def test_names_in_a_document_do_not_clash(result: Result) -> None:
    names = [*HEAD, *result.summary(), *result.columns()]
    assert len(set(names)) == len(names)


@cache
def whole_schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(bundle())


def test_json_fits_its_schema(result: Result) -> None:
    content = json.loads(result.to_json(), parse_constant=pytest.fail)
    own = schema(type(result).__name__)
    jsonschema.Draft202012Validator.check_schema(own)
    wrong = [error.message for error in jsonschema.Draft202012Validator(own).iter_errors(content)]
    assert wrong == [], f"change the annotations of {type(result).__name__}"
    whole_schema().validate(content)


def test_a_class_declares_the_columns_of_its_table(result: Result) -> None:
    declared = columns_of(type(result))
    assert set(declared) - set(result.columns()) <= optional_columns(type(result))
    assert {name for name in declared if name in result.columns()} == set(result.columns())


def test_a_schema_refuses_what_is_not_there() -> None:
    content = json.loads(every_result()["epc"].to_json())
    check = jsonschema.Draft202012Validator(schema("epc")).is_valid
    assert check(content)
    assert not check({**content, "more": 1})
    assert not check({name: value for name, value in content.items() if name != "threshold"})
    assert not check({**content, "threshold": ["Inf"]})
    assert not check({**content, "result": "Band"})
    assert check({**content, "custom": ["task"]})
    assert not check({**content, "custom": ["threshold"]})
    assert not check({**content, "dev": {**content["dev"], "more": 1}})
    assert not check({**content, "columns": {**content["columns"], "alpha": "text"}})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("band", {"bootstrap": "jackknife"}),
        ("band", {"n_resamples": [1, 2, 3]}),
        ("comparison", {"confidence_level": 1}),
        ("comparison", {"area": {}}),
        ("comparison", {"regions": [{"start": 0, "end": 1}]}),
        ("roc", {"kind": "a priori"}),
        ("average", {"interval": "wide"}),
        ("rate", {"name": "tpr"}),
    ],
)
def test_schemas_are_strict(name: str, change: dict[str, object]) -> None:
    content = json.loads(every_result()[name].to_json())
    check = jsonschema.Draft202012Validator(schema(content["result"])).is_valid
    assert check(content)
    assert not check({**content, **change})


def test_the_schema_command() -> None:
    done = CliRunner().invoke(cli, ["schema", "EPC"])
    assert json.loads(done.stdout) == schema("EPC")
    assert set(json.loads(CliRunner().invoke(cli, ["schema"]).stdout)["$defs"]) == set(RESULTS)
    assert CliRunner().invoke(cli, ["schema", "nothing"]).exit_code == 2
    with pytest.raises(OptionError, match="unknown result 'nothing'"):
        schema("nothing")
