"""The server: its addresses, and what each one does."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from priori.app.choices import Choices
from priori.app.jobs import WORKER, Job, Jobs
from priori.app.limits import FieldErrors, Limits, Refusal
from priori.app.pages import Pages
from priori.app.security import Guard, Visitors, cookie_name, policy
from priori.app.uploads import Form, Storage, SystemFiles, read_form, systems_of, too_large

#: What can be downloaded, and how it is called on the visitor's side.
DOWNLOADS = {
    "report.html": "text/html; charset=utf-8",
    "report.json": "application/json",
    "report.csv": "text/csv; charset=utf-8",
}
#: Our own scripts and style.
STATIC = Path(__file__).parent / "static"


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
                Mount("/static", StaticFiles(directory=STATIC)),
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
        visitor = self.visitors.of(request)
        return self._page(request, visitor, partial(self.pages.form, jobs=self.jobs.of(visitor)))

    async def show(self, request: Request) -> Response:
        """A job: its report when it is done, else the form with its progress or what is wrong."""
        job = self._job(request)
        if job.active or job.outcome is None:
            form = partial(self.pages.form, job=job, status=self.jobs.status(job), errors=job.errors)
            return self._page(request, job.visitor, form)
        try:
            page = await asyncio.to_thread((job.outcome / "page.html").read_text, encoding="utf-8")
        except FileNotFoundError:  # deleted, or computed again, while we looked
            raise Refusal(404, "this analysis has just been deleted or computed again; load the page again") from None
        return self._page(request, job.visitor, partial(self.pages.result, job=job, page=page))

    def _page(self, request: Request, visitor: str, render: Callable[[str, str], str], status: int = 200) -> Response:
        nonce = secrets.token_urlsafe(24)
        answer = _html(render(self.visitors.key(visitor), nonce), nonce, status)
        name, cookie = cookie_name(request), self.visitors.cookie(visitor)
        if request.cookies.get(name) != cookie:
            secure = request.url.scheme == "https"
            answer.set_cookie(name, cookie, httponly=True, samesite="strict", secure=secure)
        return answer

    # -- jobs ------------------------------------------------------------------------------------------

    def _job(self, request: Request) -> Job:
        return self.jobs.find(request.path_params["key"], self.visitors.of(request))

    async def create(self, request: Request) -> Response:
        """Take files and choices, and begin."""
        return await self._submit(request, None)

    async def update(self, request: Request) -> Response:
        """Take other choices, or other files, for a job that is there, and compute it again."""
        job = self._job(request)
        if job.active:
            raise Refusal(409, "this analysis is still under way; cancel it first")
        return await self._submit(request, job)

    async def _submit(self, request: Request, job: Job | None) -> Response:
        try:
            return await self._receive(request, job)
        except Refusal:
            await _drain(request, self.limits.upload)
            raise

    async def _receive(self, request: Request, job: Job | None) -> Response:
        visitor = self.visitors.of(request)
        self.jobs.check_room(visitor, new=job is None)
        length = request.headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,15}", length) or int(length) > self.limits.upload:
            raise too_large(self.limits)
        # A body of unstated length may be as long as the limit.
        needed = int(length) if "content-length" in request.headers else self.limits.upload
        with self.jobs.upload(needed, sparing=job) as room, self.jobs.storage.folder() as folder:
            form = await self._form(request, visitor, folder, room)
            try:
                job = self._accept(form, job, visitor)
            except FieldErrors as error:
                if _wants_json(request):
                    return JSONResponse({"errors": error.errors}, 422)
                page = partial(self.pages.form, job=job, fields=form.fields, errors=error.errors)
                return self._page(request, visitor, page, 422)
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
            check_key=partial(self.visitors.check, visitor),
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
        self.jobs.check_room(visitor, new=job is None)  # others may have arrived while the files were received
        if job is None:
            job = self.jobs.new(visitor)
        elif job.active or job.key not in self.jobs.jobs:
            raise Refusal(409, "this analysis has been started or deleted meanwhile; load the page again")
        job.take(systems, trials, choices)
        self.jobs.start(job)
        return job

    async def status(self, request: Request) -> Response:
        """How far a job is."""
        return JSONResponse(self.jobs.status(self._job(request)))

    async def cancel(self, request: Request) -> Response:
        """End a job's computation."""
        job = self._job(request)
        await self._check_key(request, job.visitor)
        await self.jobs.cancel(job)
        if _wants_json(request):
            return JSONResponse(self.jobs.status(job))
        return RedirectResponse(f"/jobs/{job.key}", 303)

    async def delete(self, request: Request) -> Response:
        """End a job and delete its files and results."""
        job = self._job(request)
        await self._check_key(request, job.visitor)
        await self.jobs.delete(job)
        return JSONResponse({}) if _wants_json(request) else RedirectResponse("/", 303)

    async def _check_key(self, request: Request, visitor: str) -> None:
        key = request.headers.get("x-priori-key")
        if key is not None:
            self.visitors.check(visitor, key)
            return
        with self.jobs.storage.folder() as folder:
            await self._form(request, visitor, folder, self.limits.field_bytes)

    async def download(self, request: Request) -> Response:
        """The report as a file."""
        job, name = self._job(request), request.path_params["name"]
        if name not in DOWNLOADS:
            raise Refusal(404, "there is no such page")
        if job.outcome is None:
            raise Refusal(404, "this analysis has no result yet")
        answer = FileResponse(job.outcome / name, media_type=DOWNLOADS[name], filename=f"priori-{name}")
        # Should a browser show it instead of saving it, it has no origin of ours and runs nothing.
        answer.headers["content-security-policy"] = "sandbox; default-src 'none'; frame-ancestors 'none'"
        return answer

    # -- refusals --------------------------------------------------------------------------------------

    async def refused(self, request: Request, error: Exception) -> Response:
        """Say why a request was not carried out: as JSON to our script, as a page to a person."""
        assert isinstance(error, Refusal)
        headers = {} if error.retry_after is None else {"retry-after": str(error.retry_after)}
        if error.status in (408, 413):
            headers["connection"] = "close"
        if _wants_json(request):
            return JSONResponse({"errors": {"form": error.message}}, error.status, headers)
        nonce = secrets.token_urlsafe(24)
        return _html(self.pages.refused(nonce, error), nonce, error.status, headers)

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


def _html(content: str, nonce: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    carried = {**(headers or {}), "content-security-policy": policy(nonce)}
    return Response(content, status, carried, "text/html")


async def _drain(request: Request, most: int, seconds: float = 2.0) -> None:
    """Throw away some of what a refused visitor still sends.

    A browser reads the answer only once it has sent its request, and reports a broken connection if it cannot.
    Whoever sends on and on is cut off; whoever waits to be asked (``Expect``) is not asked.
    """
    if "expect" in request.headers:
        return
    # A RuntimeError means that the end of the request has been read.
    with suppress(TimeoutError, ClientDisconnect, RuntimeError):
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                most -= len(piece)
                if most < 0:
                    return
