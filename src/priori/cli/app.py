"""``priori app``: the report page in a browser, with upload."""

from __future__ import annotations

import os
import socket

import click

from priori.base.errors import OptionError
from priori.base.extras import require
from priori.cli.commands import Asked, make_command
from priori.cli.options import options
from priori.cli.output import tell, warn


@make_command("app", *options("host port names max_upload max_jobs max_memory open_"))
def app(asked: Asked) -> None:
    """Serve the report page with a form, on this machine, until interrupted (Ctrl+C).

    Upload development and test scores, see the report, change settings and recompute. Uploaded files are
    deleted half an hour after their last use, and all of them when the server stops.

    \b
    Examples:
      priori app --open
      priori app --port 9000 --max-upload 1000
    """
    from priori.report.page import NEEDED

    require("starlette", "uvicorn", "python_multipart", *NEEDED)
    from priori.app.limits import MEGABYTE, Limits
    from priori.app.security import WebServer, is_loopback
    from priori.app.server import create_app

    upload, memory, host = asked.max_upload * MEGABYTE, asked.max_memory * MEGABYTE, asked.host
    limits = Limits(upload=upload, unpacked=5 * upload, stored=5 * upload, jobs=asked.max_jobs, memory=memory)
    listening = _listen(host, asked.port)
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listening.getsockname()[1]}"
    if not is_loopback(host):
        warn(
            [
                f"listening on {host}: everyone who can reach this machine can upload files and use its processor, and "
                "what they send is not encrypted; use it only in a network you trust"
            ]
        )

    def ready() -> None:
        tell(f"the page is at {address} (Ctrl+C stops it)")
        if asked.open_:
            click.launch(address)

    WebServer(create_app(limits, host=host, names=asked.names), on_start=ready).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":  # elsewhere it would let another program take the port over
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        reason = error.strerror or error
        raise OptionError(f"cannot listen on {host} port {port} ({reason}); choose another with --port") from None
    return listening
