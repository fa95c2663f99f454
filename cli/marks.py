"""Output that may contain text from the data: invisible and control characters are escaped."""

from __future__ import annotations

import re
from typing import Any

import click

from provspark.model.visible_text import SUSPECTS, is_hidden, visible

__all__ = ["escape_json", "say", "visible"]


def escape_json(text: str) -> str:
    """Escape invisible and control characters in JSON text. Its values stay the same."""

    def mark(match: re.Match[str]) -> str:
        c = match[0]
        if not is_hidden(c) or c == "\n":  # JSON's own line breaks
            return c
        units = c.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))

    return SUSPECTS.sub(mark, text)


def say(text: str, *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print a line that may contain text from the data, escaped."""
    click.secho(visible(text), err=err, nl=nl, **style)
