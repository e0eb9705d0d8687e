"""Every result in turn."""

from __future__ import annotations

import pytest

from priori.base.results import Result
from results import every_result


@pytest.fixture(params=list(every_result()))
def result(request: pytest.FixtureRequest) -> Result:
    return every_result()[request.param]
