"""``provspark serve``: serve the web page on this machine, without Airflow."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

import click

from provspark.cli.common import open_provenance, store_option
from provspark.model.errors import PackageMissingError, SettingsError
from provspark.settings import Settings
from provspark.stores import is_catalogue

__all__ = ["EVENTS_KEY", "events_key", "serve"]

EVENTS_KEY = "PROVSPARK_EVENTS_KEY"

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    default=8765,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@click.option(
    "--events-key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"Also receive OpenLineage events, from senders with the key in this file (or in ${EVENTS_KEY}).",
)
@store_option
def serve(host: str, port: int, open_page: bool, events_key_file: Path | None, store: str | None) -> None:
    """Start the web UI and HTTP API for a store. Anyone with the printed URL can use them.

    The URL contains a token. It is new at each start, unless you set PROVSPARK_SERVE_TOKEN (16 characters or more).
    PROVSPARK_MASK_COLUMNS hides columns, PROVSPARK_OPEN_COLUMNS lists columns to show in spite of that, and
    PROVSPARK_SHOW_VALUES=False hides all values; see docs/security.md. PROVSPARK_REQUEST_SECONDS,
    PROVSPARK_REPLAY_SECONDS and other variables set the limits that docs/http.md lists.
    If you use --events-key-file, --store must be a catalogue. Senders post events to /api/v1/lineage with the header
    `Authorization: Bearer KEY`.

    \b
    Example:
      provspark serve --store /data/prov --open
    """
    try:
        import uvicorn

        from provspark.web.events import Events
        from provspark.web.limits import Limits
        from provspark.web.local import local_app, new_token
        from provspark.web.policy import Policy
        from provspark.web.source import AnswerSource
    except ImportError as e:
        raise PackageMissingError("provspark serve", "'airflow-provider-provspark[serve]'") from e
    token = os.environ.get("PROVSPARK_SERVE_TOKEN") or new_token()
    if len(token) < 16:
        raise SettingsError(
            "PROVSPARK_SERVE_TOKEN has fewer than 16 characters. Set a longer one, or unset it to generate one."
        )
    key = events_key(events_key_file, EVENTS_KEY)
    if key == token:
        raise SettingsError(
            f"PROVSPARK_SERVE_TOKEN and {EVENTS_KEY} are equal, so senders could read the page; change one"
        )
    url = Settings.read().url(store)
    if key and not is_catalogue(url):
        raise SettingsError(f"{url} is a store; to receive events, pass the URL of a catalogue with --store")
    events = Events(url, key) if key else None
    url = open_provenance(url).url
    policy, limits = Policy.from_settings(_setting), Limits.read(_setting)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)  # requests that arrive before the server has started wait
    except OSError as e:
        listener.close()
        raise SettingsError(
            f"Can't listen on {host}, port {port}: {e.strerror}. Pass another --port, or 0 for any free port."
        ) from e
    port = listener.getsockname()[1]
    named = f"[{host}]" if ":" in host else host
    address = f"http://{named}:{port}/?token={token}"
    if host not in _LOOPBACK:
        click.secho(
            f"Warning: other machines can reach {host}. Anyone with the URL sees the data, unencrypted.", fg="yellow"
        )
    click.echo(f"Provenance of {url} at\n  {address}\nPress Ctrl-C to stop.")
    if open_page:
        click.launch(address)
    app = local_app(AnswerSource(lambda: url, policy), token, host, port, limits, events)
    # No access log: it would contain the token.
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with suppress(KeyboardInterrupt):  # uvicorn raises it again after a clean shutdown
        uvicorn.Server(config).run(sockets=[listener])


def events_key(file: Path | None, variable: str) -> str:
    """Return the key that senders of events must have: from a file, or else from the environment; "" if none is set."""
    if file is None:
        return os.environ.get(variable, "")
    key = file.read_text(encoding="utf-8").strip()
    if not key:
        raise SettingsError(f"{file} is empty; write a key of at least 16 characters into it")
    return key


def _setting(name: str) -> str | None:
    return os.environ.get(f"PROVSPARK_{name.upper()}")
