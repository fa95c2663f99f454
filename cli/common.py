"""What the commands share: the options, opening, and the shape of their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from provspark.errors import ProvSparkError
from provspark.settings import Settings

if TYPE_CHECKING:
    from provspark.api import Provenance

__all__ = ["ErrorGroup", "json_option", "open_provenance", "store_option"]

F = TypeVar("F", bound=Callable[..., Any])


class ErrorGroup(click.Group):
    """A group whose own errors are one red line and exit code 2; with ``--debug`` they keep their traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """See `click.Group.invoke`."""
        try:
            return super().invoke(ctx)
        except ProvSparkError as e:
            if ctx.params.get("debug"):
                raise
            click.secho(f"error: {' '.join(str(e).split())}", fg="red", err=True)
            ctx.exit(2)


def store_option(command: F) -> F:
    """Add ``--store``."""
    text = "The store's folder or URL, or a catalogue's URL (default: $PROVSPARK_STORE or $PROVSPARK_CATALOGUE)."
    return click.option("--store", metavar="URL", help=text)(command)


def json_option(command: F) -> F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Write JSON instead of text.")(command)


def open_provenance(store: str | None) -> Provenance:
    """Open what ``--store`` or the environment names."""
    from provspark.api import Provenance

    return Provenance(Settings.read().url(store))
