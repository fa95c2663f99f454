"""Checks a commit's message: a subject of at most 72 characters, then an empty line before the body, if any."""

from __future__ import annotations

import sys
from pathlib import Path

MOST = 72


def problem(message: str) -> str | None:
    """Return what is wrong with a commit's message, or None."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0].rstrip() if lines else ""
    if not subject:
        return "The commit has no subject. Write one line that says what changes."
    if len(subject) > MOST:
        return f"The subject has {len(subject)} characters, at most {MOST} are allowed. Move details into the body."
    if len(lines) > 1 and lines[1].strip():
        return "The line after the subject is not empty. Put an empty line between the subject and the body."
    return None


if __name__ == "__main__":
    sys.exit(problem(Path(sys.argv[1]).read_text(encoding="utf-8")))
