"""``provspark serve``: serve the web page on this machine, without Airflow."""

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
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@store_option
def serve(host: str, port: int, open_page: bool, store: str | None) -> None:
    """Serve the web page and the HTTP API for a store, until stopped. Anyone with the printed URL has access.

    Each start generates a new token for the URL; PROVSPARK_SERVE_TOKEN sets one of at least 16 characters.
    PROVSPARK_MASK_COLUMNS, PROVSPARK_OPEN_COLUMNS and PROVSPARK_SHOW_VALUES hide values; see docs/security.md.
    PROVSPARK_REQUEST_SECONDS, PROVSPARK_REPLAY_SECONDS and others set the limits that docs/http.md lists.

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
        raise SettingsError(
            "PROVSPARK_SERVE_TOKEN has fewer than 16 characters. Set a longer one, or unset it to generate one."
        )
    policy, limits = Policy.from_settings(_setting), Limits.read(_setting)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
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
    app = local_app(AnswerSource(lambda: url, policy), token, host, port, limits)
    # No access log: it would contain the token.
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with suppress(KeyboardInterrupt):  # uvicorn raises it again after a clean shutdown
        uvicorn.Server(config).run(sockets=[listener])


def _setting(name: str) -> str | None:
    return os.environ.get(f"PROVSPARK_{name.upper()}")
