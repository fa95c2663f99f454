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
"""Commands that are not questions, by the section of the help that lists them."""
_MODULES = {"ls": "listing", "show": "listing"}
_EXIT_CODES = """\
\b
Exit codes:
  0  The command succeeded. An empty answer counts as success.
  1  `verify` found a problem, you pressed Ctrl-C, or an unexpected error occurred.
  2  Wrong usage, or a known error. Standard error has the reason.
  3  `receiver` (deprecated, use `serve`) can't listen on its address.
`run` exits with the script's exit code, or with 128 + N if signal N ended it.
"""


class _Commands(ErrorGroup):
    """The commands of `_OWN` and those of the questions, imported on demand."""

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

        sections: dict[str, list[str]] = {"Capture": [], "Queries": [], "Queries that replay steps": []}
        sections |= {title: [*names] for title, names in _OWN.items()}
        for name, question in sorted(commands().items()):
            if question:
                again = QUESTIONS[question].function.__module__.startswith("provspark.replay.")
                sections["Queries that replay steps" if again else "Queries"].append(name)
        for title, names in sections.items():
            listed = [(name, self.get_command(ctx, name)) for name in names]
            width = formatter.width - 6 - max(map(len, names))
            with formatter.section(title):
                formatter.write_dl([(n, c.get_short_help_str(width)) for n, c in listed if c and not c.hidden])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXIT_CODES)
@click.version_option(__version__, prog_name="provspark")
@click.option("--debug", is_flag=True, help="Show the traceback if a command fails.")
def main(debug: bool) -> None:
    """Record-level lineage for Spark jobs: find the source rows of any row.

    \b
    Examples:
      provspark run --store /data/prov job.py    run a PySpark script and capture its lineage
      provspark ls --store /data/prov            list the datasets that it read and wrote
      provspark trace /data/report --row 17      trace row 17 to its source rows
    """


if __name__ == "__main__":
    main()
