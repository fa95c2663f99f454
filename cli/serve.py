"""``provspark serve``: the web UI and HTTP API on this machine, without Airflow."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

import click

from provspark.cli.common import open_provenance, store_option
from provspark.model.errors import PackageMissingError, SettingsError

__all__ = ["serve"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 finds a free one.")
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@store_option
def serve(host: str, port: int, open_page: bool, store: str | None) -> None:
    """Start the web UI and HTTP API for a store. Anyone with the printed URL can use them.

    The URL contains a token, which is new at each start; PROVSPARK_SERVE_TOKEN sets one of at least 16 characters.
    PROVSPARK_MASK_COLUMNS hides columns, PROVSPARK_OPEN_COLUMNS shows some of them, and PROVSPARK_SHOW_VALUES=False
    hides all values; see docs/security.md. PROVSPARK_REQUEST_SECONDS, PROVSPARK_REPLAY_SECONDS and other variables
    set the limits that docs/http.md lists.

    \b
    Example:
      provspark serve --store /data/prov --open
    """
    try:
        import uvicorn

        from provspark.web.limits import Limits
        from provspark.web.local import local_app, new_token
        from provspark.web.policy import Policy
        from provspark.web.source import AnswerSource
    except ImportError as e:
        raise PackageMissingError("provspark serve", "'airflow-provider-provspark[serve]'") from e
    url = open_provenance(store).url
    token = os.environ.get("PROVSPARK_SERVE_TOKEN") or new_token()
    if len(token) < 16:
        raise SettingsError("PROVSPARK_SERVE_TOKEN needs at least 16 characters; unset it to generate one")
    policy, limits = Policy.from_settings(_setting), Limits.read(_setting)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as e:
        listener.close()
        raise SettingsError(
            f"can't listen at {host}, port {port}: {e.strerror}; pass another --port, or 0 for any free port"
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
    app = local_app(AnswerSource(lambda: url, policy), token, host, port, limits)
    # No access log: it would hold the token.
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with suppress(KeyboardInterrupt):  # uvicorn raises it again once it has ended in good order
        uvicorn.Server(config).run(sockets=[listener])


def _setting(name: str) -> str | None:
    return os.environ.get(f"PROVSPARK_{name.upper()}")
