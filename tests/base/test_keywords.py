"""Keywords: wrong ones name the function and the nearest right one; right calls and other errors stay as they are."""

from __future__ import annotations

import inspect
import pickle

import pytest

import priori
from priori.base.keywords import keywords
from results import scores

FUNCTIONS = [name for name in priori.__all__ if inspect.isfunction(getattr(priori, name)) and name != "silenced"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_names_itself(name: str) -> None:
    function = getattr(priori, name)
    with pytest.raises(TypeError, match=rf"^{name}\(\) has no argument 'xyzzy'; it has: "):
        function(xyzzy=1)
    assert pickle.loads(pickle.dumps(function)) is function


def test_the_nearest_keyword() -> None:
    dev = scores(2, 0)
    with pytest.raises(TypeError, match=r"^epc\(\) has no argument 'crit'; did you mean 'criterion'\?$"):
        priori.epc(dev, dev, crit="eer")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^band\(\) has no argument 'resamples'; did you mean 'n_resamples'\?$"):
        priori.epc(dev, dev).band(resamples=10)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^from_arrays\(\) has no argument 'users'; did you mean 'negative_user'\?$"):
        priori.Scores.from_arrays([0], [1], users=[1])  # type: ignore[call-arg]


def test_signatures_and_other_errors_are_as_before() -> None:
    @keywords
    def inner(value: int, *, times: int = 1) -> int:
        return len(value) * times  # type: ignore[arg-type]

    assert str(inspect.signature(inner)) == "(value: 'int', *, times: 'int' = 1) -> 'int'"
    with pytest.raises(TypeError, match="has no len"):
        inner(1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'value'"):
        inner()  # type: ignore[call-arg]
