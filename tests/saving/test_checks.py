"""A file that was changed is refused, by its digest."""

from __future__ import annotations

import hashlib
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import priori
from priori.base.errors import InputError, OptionError, PrioriError
from priori.base.results import Result
from results import again, curves, every_result

CURVE = curves()[0]
CHANGED = "was changed after Priori saved it"


def test_the_digest_is_of_the_values() -> None:
    """Beside one made by hand: the JSON of everything else, its names in order, 3.0 as 3."""
    text = priori.proportion_interval(3, 100).to_json()
    content = json.loads(re.sub(r"\b(\d+)\.0(?=[,\]}])", r"\1", text))
    told = content.pop("digest")
    by_hand = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    assert told == hashlib.sha256(by_hand).hexdigest()


def test_what_changes_no_value_is_no_change() -> None:
    content = json.loads(CURVE.to_json())
    turned = dict(reversed(content.items()))
    turned["alpha"] = [int(alpha) if alpha in (0, 1) else alpha for alpha in content["alpha"]]
    assert Result.from_json(json.dumps(turned, indent=3)).to_dict() == CURVE.to_dict()


@pytest.mark.parametrize(
    "change",
    [{"value": [0.5] * 11}, {"name": "B"}, {"digest": "0" * 64}, {"digest": None}, {"priori": "9"}, {"more": 1}],
)
def test_a_changed_document_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=CHANGED):
        Result.from_json(json.dumps({**json.loads(CURVE.to_json()), **change}))


def test_a_document_without_its_digest_is_refused() -> None:
    content = json.loads(CURVE.to_json())
    del content["digest"]
    with pytest.raises(InputError, match="is not a result that Priori saved"):
        Result.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"a": ' + "1" * 5_000 + "}", "is not JSON: Exceeds the limit"),
        (CURVE.to_json().replace('"layout": 4', '"layout": ' + "1" * 5_000), "is not JSON: Exceeds the limit"),
    ],
)
def test_json_that_python_cannot_hold(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Result.from_json(text)


def test_a_full_disk_is_an_error_in_words(tmp_path: Path) -> None:
    import resource

    CURVE.to_json(tmp_path / "x.json")
    before = (tmp_path / "x.json").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OptionError, match=r"^cannot write .*x\.json: File too large"):
            CURVE.to_json(tmp_path / "x.json")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]
    assert (tmp_path / "x.json").read_bytes() == before


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    named = priori.epc(CURVE.dev, CURVE.test, points=3, name="d\udcff")
    named.to_json(tmp_path / "d\udcff.json")
    assert priori.EPC.from_json(tmp_path / "d\udcff.json").summary()["name"] == "d\udcff"


# -- random changes ------------------------------------------------------------------------------------


def change_bytes(data: bytes, draw: random.Random) -> bytes:
    """Change, remove, add or double some bytes somewhere."""
    start = draw.randrange(len(data))
    end = min(start + draw.choice((1, 1, 1, 2, 8, 50)), len(data))
    new = draw.choice((draw.randbytes(end - start), b"", data[start:end] * 2, b"0", b"-", b"9", bytes(end - start)))
    return data[:start] + new + data[end:]


@pytest.mark.parametrize("name", ["epc", "band", "comparison", "roc", "proportion", "plan"])
def test_no_changed_file_gives_other_numbers(name: str, tmp_path: Path) -> None:
    result = every_result()[name]
    expected, draw, refused = again(result).to_json(), random.Random(name), 0
    result.to_json(tmp_path / "x.json")
    file = tmp_path / "x.json"
    data = file.read_bytes()
    for _ in range(100):
        file.write_bytes(change_bytes(data, draw))
        try:
            found = Result.from_json(file)
        except PrioriError:
            refused += 1
        else:
            assert found.to_json() == expected
    assert refused > 50
