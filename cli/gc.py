"""``provspark gc``: remove old steps that no kept step depends on."""

from __future__ import annotations

import click

from provspark.cli.common import folder_option, json_option, open_store
from provspark.cli.marks import say
from provspark.cli.render import count, echo_json

__all__ = ["gc"]


@click.command()
@folder_option
@click.option(
    "--keep-runs",
    type=click.IntRange(min=0),
    metavar="N",
    help="Keep the last N runs of each DAG, including failed ones.",
)
@click.option(
    "--keep-since", metavar="TIME", help="Keep steps that ended at or after this time, for example 2026-01-31 (UTC)."
)
@click.option("--keep", "steps", multiple=True, metavar="STEP", help="Keep this step. Repeatable.")
@click.option(
    "--idle-hours",
    type=click.FloatRange(min=0),
    metavar="HOURS",
    default=168,
    show_default=True,
    help="Remove leftover files of killed jobs if they have not changed for this many hours.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be removed, without removing it.")
@json_option
def gc(
    store: str | None,
    keep_runs: int | None,
    keep_since: str | None,
    steps: tuple[str, ...],
    idle_hours: float,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Remove old steps. Those that the --keep… options select remain, and those that they depend on.

    A kept step depends on another if it read files that the other wrote, or if its output still contains them. Datasets
    are not touched. A catalogue lists removed steps until you run `provspark catalogue rebuild`.

    \b
    Examples:
      provspark gc --store /data/prov --keep-runs 10 --dry-run
      provspark gc --store /data/prov --keep-since 2026-01-01 --keep clean-1f0c2a3b4c5d6e7f
    """
    from provspark.index_store.store.gc import Keep, collect, plan
    from provspark.index_store.store.leftovers import sweep

    keep = Keep(keep_runs, keep_since, steps)
    opened = open_store(store)
    done = plan(opened, keep) if dry_run else collect(opened, keep)
    files = sweep(opened, idle_hours * 3600, dry_run=dry_run)
    if as_json:
        parts = {name: [m.step for m in getattr(done, name)] for name in ("kept", "needed", "removed")}
        echo_json({**parts, "leftovers": files})
        return
    for manifest in done.removed:
        say(f"{manifest.step}  ended {manifest.ended}")
    would = " would be removed" if dry_run else " removed"
    say(
        f"{opened.url}: {count(len(done.removed), 'step')}{would}, {len(done.kept)} kept, {len(done.needed)} more "
        f"needed by them; {count(len(files), 'leftover file')}{would}."
    )
