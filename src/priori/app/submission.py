"""A submission: which systems a form means, where its files go, and what becomes of one that is refused."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.requests import ClientDisconnect, Request

from priori.app.jobs import Job, SystemFiles
from priori.app.limits import Limits, Refusal
from priori.app.uploads import Form, Upload, clean_name


class Body:
    """The body of a request, which knows whether its end has come."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.ended = False

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives."""
        while not self.ended:
            message = await self.request.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            self.ended = not message.get("more_body", False)
            if message.get("body"):
                yield message["body"]

    async def drain(self, most: int, seconds: float = 2.0) -> None:
        """Throw away some of what a refused visitor still sends.

        A browser reads the answer only once it has sent its request, and reports a broken connection if it cannot.
        Whoever sends on and on is cut off; whoever waits to be asked (``Expect``) is not asked.
        """
        if "expect" in self.request.headers:
            return
        with suppress(TimeoutError, ClientDisconnect):
            async with asyncio.timeout(seconds):
                async for piece in self.pieces():
                    most -= len(piece)
                    if most < 0:
                        return


def _has_file(form: Form, key: str) -> bool:
    return f"dev-{key}" in form.files or f"test-{key}" in form.files


def systems_of(
    form: Form, kept: dict[str, SystemFiles], limits: Limits, errors: dict[str, str]
) -> dict[str, SystemFiles]:
    """Return the systems of a form, by their keys; a file that is not sent again is the one already there."""
    given = [name.removeprefix("name-") for name in form.fields if name.startswith("name-")]
    # A system nobody filled in is not one, unless it is the only one.
    keys = [key for key in given if form.fields[f"name-{key}"].strip() or key in kept or _has_file(form, key)] or given[
        :1
    ]
    if not all(re.fullmatch(r"[0-9]{1,4}", key) for key in keys):
        raise Refusal(400, "the form has a system of an unknown kind; load the page again")
    if not keys:
        errors["form"] = "give at least one system"
    if len(keys) > limits.systems:
        raise Refusal(413, f"at most {limits.systems} systems are taken at a time")
    found: dict[str, SystemFiles] = {}
    names: set[str] = set()
    for place, key in enumerate(keys):
        name = clean_name(form.fields[f"name-{key}"], limits.name_characters) or f"System {place + 1}"
        if name in names:
            errors[f"name-{key}"] = "another system has this name; give each its own"
        names.add(name)
        pair: dict[str, Upload] = {}
        for part, word in (("dev", "development"), ("test", "test")):
            file = form.files.get(f"{part}-{key}") or (getattr(kept[key], part) if key in kept else None)
            if file is None:
                errors[f"{part}-{key}"] = f"choose a file with {word} scores"
            else:
                pair[part] = file
        if len(pair) == 2:
            found[key] = SystemFiles(name, **pair)
    return found


def settle(job: Job, old: list[Upload]) -> None:
    """Move new files into the job's folder, and delete those it no longer has."""

    def moved(file: Upload) -> Upload:
        target = job.folder / file.path.name
        if file.path != target:
            os.replace(file.path, target)
        return Upload(target, file.name, file.size, file.sha256)

    job.systems = {key: SystemFiles(one.name, moved(one.dev), moved(one.test)) for key, one in job.systems.items()}
    job.trials = {part: moved(file) for part, file in job.trials.items()}
    now = {file.path for file in job.uploads()}
    for file in old:
        if file.path not in now:
            file.path.unlink(missing_ok=True)
