"""``provspark verify``: check the files of a store."""

from __future__ import annotations

import click

from provspark.cli.common import folder_option, json_option, open_store, show_step
from provspark.cli.marks import say
from provspark.cli.render import count, echo_json

__all__ = ["verify"]


@click.command()
@click.argument("steps", nargs=-1, metavar="[STEP]...")
@folder_option
@json_option
@click.pass_context
def verify(ctx: click.Context, steps: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """Check the files of a store, or of some steps. This reads all of them and verifies checksums and consistency.

    The exit code is 0 if there is no problem, and 1 if there is one.

    \b
    Example:
      provspark verify --store /data/prov
    """
    from provspark.index_store.store.verification import verify as problems_of

    opened = open_store(store)
    problems = problems_of(opened, [opened.manifest(s).step for s in steps] if steps else None, show_step)
    checked = len(steps) if steps else len(opened.steps())
    if as_json:
        echo_json([{"step": p.step, "path": p.path, "what": p.what} for p in problems])
    elif problems:
        for problem in problems:
            say(str(problem), fg="red")
        say(f"{count(len(problems), 'problem')} in {opened.url}.")
    else:
        say(f"{opened.url}: {count(checked, 'step')} checked, no problem found.")
    ctx.exit(1 if problems else 0)
