"""The server: its addresses, and what each one does."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from priori.app.choices import Choices, FieldErrors
from priori.app.guard import COOKIE, Guard, Visitors, policy
from priori.app.jobs import Job, Jobs, SystemFiles
from priori.app.limits import Limits, Refusal, megabytes
from priori.app.pages import Pages
from priori.app.process import WORKER
from priori.app.storage import Storage
from priori.app.uploads import Form, Upload, clean_name, read_form

__all__ = ["create_app"]

#: What can be downloaded, and how it is called on the visitor's side.
DOWNLOADS = {
    "report.html": "text/html; charset=utf-8",
    "report.json": "application/json",
    "report.csv": "text/csv; charset=utf-8",
}
#: Our own files, and the plotting library as its package ships it: the package and the path in it, and the type.
STATIC = {
    "app.js": ("priori.app", "static/app.js", "text/javascript"),
    "app.css": ("priori.app", "static/app.css", "text/css"),
    "plotly.js": ("plotly", "package_data/plotly.min.js", "text/javascript"),
}


def create_app(
    limits: Limits | None = None,
    *,
    host: str = "127.0.0.1",
    names: tuple[str, ...] = (),
    parent: str | Path | None = None,
    worker: tuple[str, ...] = WORKER,
) -> Guard:
    """Make the app.

    Parameters
    ----------
    limits : Limits, optional
        How much it takes on.
    host, names : str, tuple of str
        The address it listens on, and further names it answers to.
    parent : path, optional
        Where its private directory is made; by default where the system keeps temporary files.
    worker : tuple of str
        What Python runs to compute a job.
    """
    return Guard(Server(limits or Limits(), parent, worker).app, host, names)


class Server:
    """One app: its visitors and their jobs."""

    def __init__(self, limits: Limits, parent: str | Path | None, worker: tuple[str, ...]) -> None:
        self.limits, self.parent, self.worker = limits, parent, worker
        self.visitors = Visitors()
        self.pages = Pages(limits)
        self.jobs: Jobs
        self.app = Starlette(
            routes=[
                Route("/", self.front, methods=["GET"]),
                Route("/jobs", self.create, methods=["POST"]),
                Route("/jobs/{key}", self.show, methods=["GET"]),
                Route("/jobs/{key}", self.update, methods=["POST"]),
                Route("/jobs/{key}/status", self.status, methods=["GET"]),
                Route("/jobs/{key}/cancel", self.cancel, methods=["POST"]),
                Route("/jobs/{key}/delete", self.delete, methods=["POST"]),
                Route("/jobs/{key}/{name}", self.download, methods=["GET"]),
                Route("/static/{name}", self.static, methods=["GET"]),
            ],
            exception_handlers={Refusal: self.refused, HTTPException: self.missing, ClientDisconnect: self.left},
            lifespan=self.lifespan,
        )
        self.app.state.server = self

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Live with a private directory; at the end no process and no file is left."""
        self.jobs = Jobs(Storage(self.parent), self.limits, self.worker)
        watching = asyncio.create_task(self.jobs.watch())
        try:
            yield
        finally:
            watching.cancel()
            await self.jobs.close()

    # -- pages -----------------------------------------------------------------------------------------

    async def front(self, request: Request) -> Response:
        """The form."""
        visitor, _ = self.visitors.of(request)
        return self._page(request, visitor, lambda key, nonce: self.pages.front(key, nonce, self.jobs.of(visitor)))

    async def show(self, request: Request) -> Response:
        """A job: its report when it is done, else the form with its progress or what is wrong."""
        job, visitor = self._job(request)
        if job.active or job.outcome is None:
            status = self.jobs.status(job)
            return self._page(request, visitor, lambda key, nonce: self.pages.job(key, nonce, job, status))
        try:
            page = await asyncio.to_thread((job.outcome / "page.html").read_text, encoding="utf-8")
        except FileNotFoundError:  # deleted, or computed again, while we looked
            raise Refusal(404, "this analysis has just been deleted or computed again; load the page again") from None
        return self._page(request, visitor, lambda key, nonce: self.pages.result(key, nonce, job, page), figures=True)

    def _page(
        self,
        request: Request,
        visitor: str,
        render: Callable[[str, str], str],
        status: int = 200,
        *,
        figures: bool = False,
    ) -> Response:
        nonce = secrets.token_urlsafe(24)
        content = render(self.visitors.key(visitor), nonce)
        answer = Response(content, status, media_type="text/html")
        answer.headers["content-security-policy"] = policy(nonce, figures=figures)
        if request.cookies.get(COOKIE) != visitor:
            secure = request.url.scheme == "https"
            answer.set_cookie(COOKIE, visitor, httponly=True, samesite="strict", secure=secure)
        return answer

    # -- jobs ------------------------------------------------------------------------------------------

    def _job(self, request: Request) -> tuple[Job, str]:
        visitor, _ = self.visitors.of(request)
        return self.jobs.find(request.path_params["key"], visitor), visitor

    async def create(self, request: Request) -> Response:
        """Take files and choices, and begin."""
        return await self._submit(request, None)

    async def update(self, request: Request) -> Response:
        """Take other choices, or other files, for a job that is there, and compute it again."""
        job, _ = self._job(request)
        if job.active:
            raise Refusal(409, "this analysis is still under way; cancel it first")
        return await self._submit(request, job)

    async def _submit(self, request: Request, job: Job | None) -> Response:
        try:
            return await self._receive(request, job)
        except Refusal:
            await drain(request, self.limits.upload)
            raise

    async def _receive(self, request: Request, job: Job | None) -> Response:
        visitor, _ = self.visitors.of(request)
        self.jobs.check_room(visitor, new=job is None)
        length = request.headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,15}", length) or int(length) > self.limits.upload:
            raise Refusal(
                413, f"the files are larger than {megabytes(self.limits.upload)} together, which is the limit"
            )
        with self.jobs.upload() as room:
            folder = self.jobs.storage.new_folder()
            try:
                form = await self._form(request, visitor, folder, room)
                try:
                    job = self._accept(form, job, visitor)
                except FieldErrors as error:
                    return self._wrong(request, visitor, form, job, error.errors)
            finally:
                self.jobs.storage.remove(folder)
        address = f"/jobs/{job.key}"
        if _wants_json(request):
            return JSONResponse({"job": job.key, "address": address}, 202)
        return RedirectResponse(address, 303)

    async def _form(self, request: Request, visitor: str, folder: Path, room: int) -> Form:
        key = request.headers.get("x-priori-key")
        if key is not None:
            self.visitors.check(visitor, key)
        return await read_form(
            request.stream(),
            request.headers.get("content-type", ""),
            folder,
            self.limits,
            room=room,
            check_key=lambda text: self.visitors.check(visitor, text),
            trusted=key is not None,
        )

    def _accept(self, form: Form, job: Job | None, visitor: str) -> Job:
        """Make or change the job, if everything in the form can be used."""
        errors: dict[str, str] = {}
        choices = Choices()
        try:
            choices = Choices.from_fields(form.fields, self.limits)
        except FieldErrors as error:
            errors.update(error.errors)
        systems: dict[str, SystemFiles] = {}
        if not form.fields.get("example"):
            systems = systems_of(form, job.systems if job else {}, self.limits, errors)
        trials = {part: form.files[f"{part}-trials"] for part in ("dev", "test") if f"{part}-trials" in form.files}
        if job is not None and "keep-trials" in form.fields:
            trials = {**job.trials, **trials}
        if errors:
            raise FieldErrors(errors)
        self.jobs.check_room(visitor, new=job is None)  # others may have come while the files did
        if job is None:
            job = self.jobs.new(visitor)
        elif job.active or job.key not in self.jobs.jobs:
            raise Refusal(409, "this analysis has been started or deleted meanwhile; load the page again")
        old = job.uploads()
        job.systems, job.trials, job.choices = systems, trials, choices
        _settle(job, old)
        self.jobs.start(job)
        return job

    def _wrong(self, request: Request, visitor: str, form: Form, job: Job | None, errors: dict[str, str]) -> Response:
        """Say what is wrong with the form, next to its fields."""
        if _wants_json(request):
            return JSONResponse({"errors": errors}, 422)

        def render(key: str, nonce: str) -> str:
            return self.pages.wrong(key, nonce, job, form.fields, errors)

        return self._page(request, visitor, render, 422)

    async def status(self, request: Request) -> Response:
        """How far a job is."""
        job, _ = self._job(request)
        return JSONResponse(self.jobs.status(job))

    async def cancel(self, request: Request) -> Response:
        """End a job's computation."""
        job, _ = self._job(request)
        await self._check_key(request)
        await self.jobs.cancel(job)
        return (
            JSONResponse(self.jobs.status(job)) if _wants_json(request) else RedirectResponse(f"/jobs/{job.key}", 303)
        )

    async def delete(self, request: Request) -> Response:
        """End a job and delete its files and results."""
        job, _ = self._job(request)
        await self._check_key(request)
        await self.jobs.delete(job)
        return JSONResponse({}) if _wants_json(request) else RedirectResponse("/", 303)

    async def _check_key(self, request: Request) -> None:
        visitor, _ = self.visitors.of(request)
        key = request.headers.get("x-priori-key")
        if key is not None:
            self.visitors.check(visitor, key)
            return
        folder = self.jobs.storage.new_folder()
        try:
            await self._form(request, visitor, folder, self.limits.field_bytes)
        finally:
            self.jobs.storage.remove(folder)

    async def download(self, request: Request) -> Response:
        """The report as a file."""
        job, _ = self._job(request)
        name = request.path_params["name"]
        if name not in DOWNLOADS:
            raise Refusal(404, "there is no such page")
        if job.outcome is None:
            raise Refusal(404, "this analysis has no result yet")
        answer = FileResponse(job.outcome / name, media_type=DOWNLOADS[name], filename=f"priori-{name}")
        # Should a browser show it instead of saving it, it has no origin of ours and runs nothing.
        answer.headers["content-security-policy"] = "sandbox; default-src 'none'; frame-ancestors 'none'"
        return answer

    async def static(self, request: Request) -> Response:
        """Our own script, style and icon."""
        name = request.path_params["name"]
        if name not in STATIC:
            raise Refusal(404, "there is no such page")
        package, path, kind = STATIC[name]
        with as_file(files(package) / path) as found:
            content = await asyncio.to_thread(found.read_bytes)
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        headers = {"cache-control": "no-cache", "etag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    # -- refusals --------------------------------------------------------------------------------------

    async def refused(self, request: Request, error: Exception) -> Response:
        """Say why a request was not carried out: as JSON to our script, as a page to a person."""
        assert isinstance(error, Refusal)
        headers = {} if error.retry_after is None else {"retry-after": str(error.retry_after)}
        if error.status in (408, 413):
            headers["connection"] = "close"
        if _wants_json(request):
            return JSONResponse({"errors": {"form": error.message, **error.errors}}, error.status, headers)
        nonce = secrets.token_urlsafe(24)
        answer = Response(self.pages.refused(nonce, error), error.status, headers, "text/html")
        answer.headers["content-security-policy"] = policy(nonce)
        return answer

    async def missing(self, request: Request, error: Exception) -> Response:
        """Say that an address does not exist, or does not take that method."""
        assert isinstance(error, HTTPException)
        message = "there is no such page" if error.status_code == 404 else "this cannot be done here"
        return await self.refused(request, Refusal(error.status_code, message))

    async def left(self, request: Request, error: Exception) -> Response:
        """The visitor went away in the middle of an upload; nobody reads this."""
        return Response(status_code=400)


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


async def drain(request: Request, most: int, seconds: float = 2.0) -> None:
    """Throw away some of what a refused visitor still sends.

    A browser reads the answer only once it has sent its request, and reports a broken connection if it cannot.
    Whoever sends on and on is cut off; whoever waits to be asked (``Expect``) is not asked.
    """
    if "expect" in request.headers:
        return
    with suppress(TimeoutError, ClientDisconnect, RuntimeError):
        async with asyncio.timeout(seconds):
            while most > 0:
                message = await request.receive()
                most -= len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body"):
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


def _settle(job: Job, old: list[Upload]) -> None:
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


def run(app: Any, sockets: list[Any], *, on_start: Callable[[], None] | None = None) -> None:
    """Serve until interrupted."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=3,
        limit_concurrency=100,
        h11_max_incomplete_event_size=64_000,
    )

    class _Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            if on_start is not None:
                on_start()

    _Server(config).run(sockets=sockets)
