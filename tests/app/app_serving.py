"""A server in the test's own process, visitors, and small score files."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from priori.app.security import WebServer

BASE = "http://127.0.0.1:8000"
#: How many seconds anything may take: on a busy machine everything is late.
PATIENCE = 120

DEV = b"label,score\n0,0.1\n0,0.4\n0,0.2\n0,0.5\n1,0.3\n1,0.8\n1,0.7\n1,0.9\n"
TEST = b"label,score\n0,0.2\n0,0.5\n0,0.1\n0,0.3\n1,0.4\n1,0.9\n1,0.6\n1,0.7\n"

#: A worker that starts a child of its own, tells its number, and never ends by itself.
STUCK = (
    "-c",
    "import json,os,subprocess,sys,time\n"
    "json.loads(sys.stdin.readline())\n"
    "child = subprocess.Popen(['sleep', '300'])\n"
    "open('tmp/scratch', 'w').write('left over')\n"
    "print(json.dumps({'stage': f'{os.getpid()} {child.pid}', 'done': 1, 'total': 2}), flush=True)\n"
    "time.sleep(300)\n",
)


def worker_that(code: str) -> tuple[str, ...]:
    """Return a worker that takes its order and then runs ``code``."""
    return ("-c", "import json,os,sys,time\norder = json.loads(sys.stdin.readline())\n" + code)


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread of its own: the browser of other tests has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@contextmanager
def listening(app: Any, port: int = 0) -> Iterator[int]:
    """Serve an app on a port, and give the port: a free one, unless named."""
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(("127.0.0.1", port))
        server = WebServer(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.02)
            yield int(door.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()


class Visitor:
    """Someone with a browser: a cookie, and the key from the page."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        page = client.get("/").text
        self.key = re.search(r'name="csrf" value="([0-9a-f]{64})"', page)[1]  # type: ignore[index]

    def send(
        self,
        fields: dict[str, str] | None = None,
        files: Any = None,
        address: str = "/jobs",
        headers: dict[str, str] | None = None,
    ) -> Any:
        """Send the form as the page's script does."""
        given = {"name-0": "A", "dev-0": ("dev.csv", DEV), "test-0": ("test.csv", TEST)} if files is None else files
        texts = {"bootstrap": "none", **{name: value for name, value in given.items() if isinstance(value, str)}}
        uploads = {name: value for name, value in given.items() if not isinstance(value, str)}
        texts.update(fields or {})
        parts = [(name, (None, value)) for name, value in texts.items()] + list(uploads.items())
        carried = {"accept": "application/json", "x-priori-key": self.key, **(headers or {})}
        return self.client.post(address, files=parts, headers=carried, follow_redirects=False)

    def status(self, job: str) -> dict[str, Any]:
        return self.client.get(f"/jobs/{job}/status").json()

    def wait(self, job: str, until: Callable[[dict[str, Any]], bool] | None = None) -> dict[str, Any]:
        """Wait until a job has ended, or until something else holds."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            status = self.status(job)
            if until(status) if until else status["state"] not in ("waiting", "running"):
                return status
            time.sleep(0.02)
        raise AssertionError(f"still waiting: {status}")

    def post(self, address: str) -> Any:
        return self.client.post(address, headers={"accept": "application/json", "x-priori-key": self.key})


class Served:
    """A running app, and a way in for each visitor."""

    def __init__(self, app: Any, stack: ExitStack) -> None:
        self.app = app
        self.server = app.app.state.server
        # The first client runs the app; the others share its loop, so that one app serves several visitors.
        self.first = stack.enter_context(TestClient(app, base_url=BASE, raise_server_exceptions=True))

    def visitor(self) -> Visitor:
        client = TestClient(self.app, base_url=BASE)
        client.portal = self.first.portal
        return Visitor(client)

    @property
    def root(self) -> Path:
        return self.server.jobs.storage.root

    def files(self) -> list[Path]:
        """Every file of the app but its lock."""
        return [path for path in self.root.rglob("*") if path.is_file() and path.name != "owner.lock"]


def alive(process: int) -> bool:
    """Tell whether a process exists and is not just waiting to be buried."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def gone(*processes: int) -> bool:
    """Wait until processes are gone."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not any(alive(process) for process in processes):
            return True
        time.sleep(0.02)
    return False
