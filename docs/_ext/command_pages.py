"""The page of the command line: what ``--help`` prints, command by command."""

from __future__ import annotations

from collections.abc import Iterator

import click
from markdown import fenced

from provspark.cli.main import main

__all__ = ["markdown"]

_WIDTH = 100


def markdown() -> str:
    """Return a section for each command that is not hidden."""
    return "\n\n".join(_sections(main, "provspark", None))


def _sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(
        command, parent, info_name=name, max_content_width=_WIDTH, terminal_width=_WIDTH, **command.context_settings
    )
    path = context.command_path
    yield f"## `{path}`\n\n{fenced(command.get_help(context))}"
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            child = command.get_command(context, each)
            if child and not child.hidden:
                yield from _sections(child, each, context)
