"""Options, openers and error handling that the commands share."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from provspark.cli.marks import say, visible
from provspark.model.errors import ProvSparkError, ReplayCancelledError
from provspark.settings import Settings

if TYPE_CHECKING:
    from provspark.api import Provenance
    from provspark.index_store.catalogue import Catalogue
    from provspark.index_store.store.store import Store

__all__ = [
    "STORE_OPTION",
    "ErrorGroup",
    "cancelled_by_keys",
    "catalogue_option",
    "catalogue_url",
    "folder_option",
    "json_option",
    "open_catalogue",
    "open_provenance",
    "open_store",
    "show_progress",
    "show_step",
    "store_option",
]

F = TypeVar("F", bound=Callable[..., Any])


class ErrorGroup(click.Group):
    """A group that prints a `ProvSparkError` as one red line and exits with 2; ``--debug`` shows its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """See `click.Group.invoke`."""
        try:
            return super().invoke(ctx)
        except ProvSparkError as e:
            if ctx.params.get("debug"):
                raise
            say(f"error: {' '.join(str(e).split())}", fg="red", err=True)
            ctx.exit(2)
        except click.UsageError as e:
            raise click.UsageError(visible(e.format_message()), e.ctx) from None


_STORE = "The store's folder or URL, or a catalogue's URL (default: $PROVSPARK_STORE or $PROVSPARK_CATALOGUE)."
STORE_OPTION = click.Option(["--store"], metavar="URL", help=_STORE)


def store_option(command: F) -> F:
    """Add ``--store``."""
    return click.option("--store", metavar="URL", help=_STORE)(command)


def folder_option(command: F) -> F:
    """Add ``--store`` to a command that works on the files of one store."""
    text = "The store's folder or URL (default: $PROVSPARK_STORE)."
    return click.option("--store", metavar="URL", help=text)(command)


def open_store(store: str | None) -> Store:
    """Open the store that ``--store`` or the environment names."""
    from provspark.index_store.store.store import Store

    return Store.open(Settings.read().store_url(store))


def catalogue_option(*names: str) -> Callable[[F], F]:
    """Return a decorator that adds an option for a catalogue's URL."""
    text = "The catalogue's SQLAlchemy URL (default: $PROVSPARK_CATALOGUE, or SQLite in $AIRFLOW_HOME or ~/.provspark)."
    return click.option(*names, "url", metavar="URL", help=text)


def json_option(command: F) -> F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Write JSON instead of text.")(command)


def show_step(step: str, number: int, steps: int) -> None:
    """Show the progress of a long command if standard error is a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{number + 1} of {steps}: {visible(step)}", nl=False, err=True)
        if number + 1 == steps:
            click.echo("\r\033[K", nl=False, err=True)


def show_progress(done: int, of: int, text: str) -> None:
    """Show the progress of a replay if standard error is a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{done} of {of}: {visible(text[:100])}" if done < of else "\r\033[K", nl=False, err=True)


@contextmanager
def cancelled_by_keys(prov: Provenance) -> Iterator[None]:
    """Cancel the replay on Ctrl-C, and raise `ReplayCancelledError`."""
    try:
        yield
    except KeyboardInterrupt:
        prov.replayer.cancel()
        raise ReplayCancelledError("The replay was cancelled. The store and the data are unchanged.") from None


def open_provenance(store: str | None) -> Provenance:
    """Open the store or catalogue that ``--store`` or the environment names, and warn of steps that can't be read."""
    from provspark import api
    from provspark.index_store.store.broken_steps import summary

    logging.getLogger(api.__name__).addHandler(logging.NullHandler())  # it would repeat the warning below
    prov = api.Provenance(Settings.read().url(store))
    if prov.broken:
        say(f"warning: {summary(prov.broken)}", fg="yellow", err=True)
    return prov


def open_catalogue(url: str | None, *, make: bool = False, beside: bool = False) -> Catalogue:
    """Open the catalogue that ``--url`` or the environment names, or the default one.

    `make` creates missing tables, `beside` even in a database that contains those of another application.
    """
    from provspark.index_store.catalogue import Catalogue

    return Catalogue.open(catalogue_url(url, make=make), migrate=make, beside=beside)


def catalogue_url(given: str | None, *, make: bool = False) -> str:
    """Return the given URL, the configured one, or the default; `make` creates the default catalogue's folder."""
    settings = Settings.read()
    if make and not given and not settings.catalogue_given:
        Path(settings.catalogue.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    return given or settings.catalogue
