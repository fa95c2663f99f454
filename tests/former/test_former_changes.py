"""What answers otherwise than in the last release was announced, and touches lines that are run."""

from __future__ import annotations

from pathlib import Path

from _answers import ANSWERS
from _changed import KEYS, LINES

CHANGES = Path(__file__).parents[2] / "changes"


def test_each_change_is_announced() -> None:
    told = [(change.fragment, change.what) for changes in KEYS.values() for change in changes]
    for fragment, words in [*told, *((fragment, words) for fragment, words, _ in LINES.values())]:
        text = " ".join(path.read_text(encoding="utf-8") for path in sorted(CHANGES.glob(f"{fragment}.*.md")))
        assert words.lower() in " ".join(text.lower().split()), (fragment, words)


def test_each_line_is_run() -> None:
    scripts = {line for lines in ANSWERS.values() if isinstance(lines, list) for line, _ in lines}
    assert not set(LINES) - scripts - set(ANSWERS["commands"]) - set(ANSWERS["http"])
