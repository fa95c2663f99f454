"""``provspark catalogue``: the database that links steps across stores."""

from __future__ import annotations

from pathlib import Path

import click

from provspark.cli.common import catalogue_option, json_option, open_catalogue
from provspark.cli.marks import say
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.model.errors import CatalogueError, NoCatalogueError, SettingsError

__all__ = ["catalogue"]


@click.group()
def catalogue() -> None:
    """Create, upgrade, rebuild or list the catalogue. It is a database that links steps across stores."""


@catalogue.command()
@click.option(
    "--beside-others",
    is_flag=True,
    help="Create the tables even in a database that contains those of another application.",
)
@catalogue_option("--url")
def init(beside_others: bool, url: str | None) -> None:
    """Create the catalogue's tables. This does not change an existing catalogue.

    \b
    Examples:
      provspark catalogue init --url sqlite:////data/catalogue.db
      provspark catalogue init --url postgresql://user@host/prov --beside-others
    """
    with open_catalogue(url, make=True, beside=beside_others) as opened:
        say(f"The catalogue {opened.where} is ready. It contains {count(len(opened.steps()), 'step')}.")


@catalogue.command(short_help="Upgrade the tables to this version of provspark.")
@catalogue_option("--url")
def upgrade(url: str | None) -> None:
    """Upgrade the tables of an older version of provspark to the current schema. No data is lost.

    \b
    Example:
      provspark catalogue upgrade --url postgresql://user@host/prov
    """
    try:
        open_catalogue(url).close()
    except NoCatalogueError:
        raise
    except CatalogueError:
        pass
    with open_catalogue(url, make=True) as opened:
        say(f"The catalogue {opened.where} has the current schema. It contains {count(len(opened.steps()), 'step')}.")


@catalogue.command(short_help="Rebuild the catalogue from event files or stores.")
@click.option(
    "--events",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="A file of OpenLineage events, one per line. Repeatable.",
)
@click.option("--store", "stores", multiple=True, metavar="URL", help="A store whose steps to add. Repeatable.")
@catalogue_option("--url")
def rebuild(events: tuple[Path, ...], stores: tuple[str, ...], url: str | None) -> None:
    """Replace the catalogue's content with that of event files or stores. If that fails, nothing changes.

    \b
    Examples:
      provspark catalogue rebuild --store /data/prov --store s3://bucket/prov
      provspark catalogue rebuild --events openlineage.json --url postgresql://user@host/prov
    """
    if bool(events) == bool(stores):
        raise SettingsError("Pass either --events FILE or --store URL, one of them. Both are repeatable.")
    from provspark.rebuild import rebuild_from_events, rebuild_from_stores

    with open_catalogue(url, make=True) as opened:
        taken = rebuild_from_events(opened, events) if events else rebuild_from_stores(opened, stores)
        say(f"Added {count(taken, 'event')}. The catalogue contains {count(len(opened.steps()), 'step')}.")


@catalogue.command("ls")
@catalogue_option("--url")
@json_option
def list_steps(url: str | None, as_json: bool) -> None:
    """List the steps in the catalogue, with their stores.

    \b
    Example:
      provspark catalogue ls --url sqlite:////data/catalogue.db
    """
    with open_catalogue(url) as opened:
        records = opened.steps()
    lines = [
        {
            "step": r.ref.step,
            "status": r.status,
            "started": r.started,
            "answers": r.answers,
            "untracked": r.untracked,
            "store": r.ref.store,
        }
        for r in records
    ]
    if as_json:
        echo_json(lines)
    elif not lines:
        say("The catalogue contains no step yet. Fill it with `provspark catalogue rebuild`.")
    else:
        print_rows(console(), list(lines[0]), [list(line.values()) for line in lines])
