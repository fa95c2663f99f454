"""``provspark receiver``: the former name of what ``provspark serve --events-key-file`` does."""

from __future__ import annotations

from pathlib import Path

import click

from provspark.cli.common import catalogue_option, catalogue_url
from provspark.cli.serve import EVENTS_KEY, events_key
from provspark.model.errors import PackageMissingError, SettingsError

__all__ = ["receiver"]

_VARIABLE = "PROVSPARK_RECEIVER_KEY"


@click.command(hidden=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="N", default=8000, show_default=True, help="0 finds a free one."
)
@catalogue_option("--catalogue", "--url")
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"File with the key that senders must have (default: the key in ${_VARIABLE}).",
)
def receiver(host: str, port: int, url: str | None, key_file: Path | None) -> None:
    """Receive OpenLineage events, without the page. Use `provspark serve --events-key-file FILE` instead."""
    click.echo(
        f"provspark receiver will be removed in the next release; use provspark serve with --events-key-file or "
        f"${EVENTS_KEY}, which also serves the page.",
        err=True,
    )
    key = events_key(key_file, _VARIABLE)
    if not key:
        raise SettingsError(
            f"provspark receiver does not start without an API key: ${_VARIABLE} is not set. Make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe())' and pass it in that variable or by --key-file"
        )
    try:
        import uvicorn

        from provspark.web.events import Events, events_app
    except ImportError as e:
        raise PackageMissingError("the receiver of OpenLineage events", "uvicorn") from e
    app = events_app(Events(catalogue_url(url, make=True), key))
    uvicorn.run(app, host=host, port=port, lifespan="on", ws="none", log_level="info")
