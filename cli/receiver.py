"""``provspark receiver``: receive OpenLineage events over HTTP, and add them to the catalogue."""

from __future__ import annotations

import os
from pathlib import Path

import click

from provspark.cli.common import catalogue_option, catalogue_url
from provspark.model.errors import PackageMissingError, SettingsError

__all__ = ["receiver"]

_VARIABLE = "PROVSPARK_RECEIVER_KEY"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@catalogue_option("--catalogue", "--url")
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"File with the API key that senders must pass (default: the key in ${_VARIABLE}).",
)
def receiver(host: str, port: int, url: str | None, key_file: Path | None) -> None:
    """Receive OpenLineage events at POST /api/v1/lineage, and add them to the catalogue, until stopped.

    Senders pass the API key as `Authorization: Bearer KEY`. Without a key, the receiver does not start.

    \b
    Examples:
      PROVSPARK_RECEIVER_KEY=... provspark receiver
      provspark receiver --key-file /run/secrets/provspark --catalogue postgresql://user@host/prov --host 0.0.0.0
    """
    key = _key(key_file)
    try:
        import uvicorn
    except ImportError as e:
        raise PackageMissingError("provspark receiver", "uvicorn") from e
    from provspark.receiver import create_app

    app = create_app(catalogue_url(url, make=True), key)
    uvicorn.run(app, host=host, port=port, lifespan="on", ws="none", log_level="info")


def _key(file: Path | None) -> str:
    key = file.read_text(encoding="utf-8").strip() if file else os.environ.get(_VARIABLE, "")
    if not key:
        where = f"{file} is empty" if file else f"${_VARIABLE} is not set"
        raise SettingsError(
            f"The receiver does not start without an API key: {where}. Generate one with "
            f"python -c 'import secrets; print(secrets.token_urlsafe())', and pass it in ${_VARIABLE} or by --key-file."
        )
    return key
