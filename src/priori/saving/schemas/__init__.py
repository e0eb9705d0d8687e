"""The published JSON schemas of saved results: one file per result, named like its class."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from priori.base.errors import unknown
from priori.saving.documents import RESULTS

__all__ = ["bundle", "schema"]


def schema(result: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a saved result.

    Examples
    --------
    >>> schema("EPC")["properties"]["alpha"]["description"]
    'The trade-off; for an exact curve, where each constant piece begins.'
    """
    known = {name.lower(): name for name in RESULTS}
    if result.lower() not in known:
        raise unknown("result", result, RESULTS)
    text = (files(__name__) / f"{known[result.lower()]}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def bundle() -> dict[str, Any]:
    """Return one JSON schema that any saved result fits, with the schema of each result inside.

    Examples
    --------
    >>> list(bundle()["$defs"])[:2]
    ['EPC', 'Areas']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:priori:schema:1",
        "title": "Any result of Priori",
        "oneOf": [{"$ref": f"urn:priori:schema:1:{name}"} for name in RESULTS],
        "$defs": {name: schema(name) for name in RESULTS},
    }
