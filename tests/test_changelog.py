"""The changelog's fragments, and the check of a commit's message."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import commit_subject

ROOT = Path(__file__).parents[1]


def test_every_fragment_is_in_the_changelog() -> None:
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9"]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = {line.strip().removeprefix("- ") for line in text.splitlines()}
    for path in (ROOT / "changes").glob("*.md"):
        if path.name != "template.md":
            first = path.read_text(encoding="utf-8").splitlines()[0]
            assert first.strip() in lines, f"{path.name} is not in the changelog: is it named NUMBER-TOPIC.KIND.md?"


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Read a range of rows once\n\nThe second reading took half of the time.\n# a comment\n", None),
        ("x" * 72, None),
        ("x" * 73, "has 73 characters"),
        ("\n\nbody", "no subject"),
        ("# only a comment", "no subject"),
        ("Read rows\nonce", "not empty"),
    ],
)
def test_a_commit_s_message_is_checked(message: str, says: str | None) -> None:
    problem = commit_subject.problem(message)
    assert problem is None if says is None else problem is not None and says in problem
