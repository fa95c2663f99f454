"""The ``provspark`` command."""

from __future__ import annotations

from importlib import import_module

import click

from provspark.cli.common import ErrorGroup
from provspark.model.release import __version__

__all__ = ["main"]

_OWN = {
    "Capture": ("run",),
    "Stores and catalogues": ("ls", "show", "export", "serve", "verify", "repair", "gc", "catalogue", "receiver"),
}
"""Commands that ask no question, by the section of the help that lists them."""
_MODULES = {"ls": "listing", "show": "listing"}


class _Commands(ErrorGroup):
    """Its own commands and those of the questions, which are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See `click.Group.list_commands`."""
        from provspark.cli.question_commands import commands

        return sorted([*(name for names in _OWN.values() for name in names), *commands()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See `click.Group.get_command`."""
        if any(cmd_name in names for names in _OWN.values()):
            module = import_module(f"provspark.cli.{_MODULES.get(cmd_name, cmd_name)}")
            command: click.Command = getattr(module, cmd_name)
            return command
        from provspark.cli.question_commands import command_of

        return command_of(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in sections."""
        from provspark.cli.question_commands import commands
        from provspark.index_store.query.question import QUESTIONS

        sections: dict[str, list[str]] = {"Capture": [], "Questions": [], "Questions that run operations again": []}
        sections |= {title: [*names] for title, names in _OWN.items()}
        for name, question in sorted(commands().items()):
            if question:
                again = QUESTIONS[question].function.__module__.startswith("provspark.replay.")
                sections["Questions that run operations again" if again else "Questions"].append(name)
        for title, names in sections.items():
            listed = [(name, self.get_command(ctx, name)) for name in names]
            width = formatter.width - 6 - max(map(len, names))
            with formatter.section(title):
                formatter.write_dl([(n, c.get_short_help_str(width)) for n, c in listed if c and not c.hidden])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="provspark")
@click.option("--debug", is_flag=True, help="Show the traceback of errors.")
def main(debug: bool) -> None:
    """Record-level lineage for Spark jobs: which source rows made this row.

    \b
    Examples:
      provspark run --store /data/prov job.py    run a PySpark script, capture its lineage
      provspark ls --store /data/prov            the datasets that it read and wrote
      provspark trace /data/report --row 17      the rows that row 17 came from

    Exit codes: 0 all well, 1 `verify` found problems, 2 an error; `run` exits as its script does.
    """


if __name__ == "__main__":
    main()
