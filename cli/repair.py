"""``provspark repair``: repair damaged steps, or mark their lineage as lost."""

from __future__ import annotations

import click

from provspark.cli.common import folder_option, json_option, open_store, show_step
from provspark.cli.marks import say
from provspark.cli.render import count, echo_json

__all__ = ["repair"]


@click.command()
@click.argument("steps", nargs=-1, metavar="[STEP]...")
@folder_option
@click.option(
    "--idle-hours",
    type=click.FloatRange(min=0),
    metavar="HOURS",
    default=24,
    show_default=True,
    help="Treat a step of another machine as killed if it has not changed for this many hours.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be done, without doing it.")
@json_option
def repair(steps: tuple[str, ...], store: str | None, idle_hours: float, dry_run: bool, as_json: bool) -> None:
    """Check a store, or some steps, and repair damage.

    Damaged files are rewritten if the store contains a second copy. Lost lineage is marked untracked, and questions
    report it. Steps whose process was killed are added to the store, with the lineage that was complete by then.

    \b
    Examples:
      provspark repair --store /data/prov --dry-run
      provspark repair --store /data/prov clean-1f0c2a3b4c5d6e7f
    """
    from provspark.index_store.store.repair import repair as mend

    opened = open_store(store)
    done = mend(opened, steps or None, idle=idle_hours * 3600, dry_run=dry_run, checking=show_step)
    if as_json:
        echo_json([{"step": r.step, "action": r.action, "what": r.what} for r in done])
        return
    for one in done:
        say(str(one))
    would = " would be done" if dry_run else " done"
    say(f"{opened.url}: {count(len(done), 'repair')}{would}.")
