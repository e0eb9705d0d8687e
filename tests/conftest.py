"""Hypothesis profiles: 200 examples by default, 2000 with HYPOTHESIS_PROFILE=thorough."""

import os

from hypothesis import HealthCheck, settings

_quiet = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("default", max_examples=200, deadline=None, derandomize=True, suppress_health_check=_quiet)
settings.register_profile("thorough", max_examples=2000, deadline=None, suppress_health_check=_quiet)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
