"""Every code block of README and docs runs (`test_docs_run.py`), or says why it does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _code_blocks import PAGES, ROOT, Block, blocks, unsettled
from _doc_worlds import commands


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_runs_or_says_why_not(page: Path) -> None:
    assert [str(block) for block in unsettled(page)] == []


def test_reasons_name_tests_and_slices_that_exist() -> None:
    reasons = [block.reason for page in PAGES for block in blocks(page) if block.reason]
    named = [name for reason in reasons for name in re.findall(r"`(tests/[\w/.]+)`", reason)]
    assert named and [name for name in named if not (ROOT / name).exists()] == []


def test_blocks_and_their_comments(tmp_path: Path) -> None:
    page = ROOT / "docs" / "no-such-page.md"
    text = (
        "```python\nx = 1\n```\n\n```text\n1\n```\n\n<!-- not run: needs a server -->\n```console\n$ curl\n```\n"
        "<!-- file: a.csv -->\n\n```csv\n1\n```\n\n  ```json\n  {}\n  ```\n\n```text\nof nothing\n```\n"
    )
    written = tmp_path / "page.md"
    written.write_text(text)
    made = blocks(written)
    assert [(b.language, b.reason, b.file) for b in made] == [
        ("python", "", ""),
        ("text", "", ""),
        ("console", "needs a server", ""),
        ("csv", "", "a.csv"),
        ("json", "", ""),
        ("text", "", ""),
    ]
    assert made[2].line == 10
    assert [b.language for b in unsettled(written)] == ["json", "text"]
    assert str(Block(page, 3, "python", "")) == "docs/no-such-page.md:3"


def test_commands_with_their_output() -> None:
    code = "$ one \\\n    --more\nfirst\nsecond\n$ two\n"
    assert [*commands(code)] == [("one \\\n    --more", "first\nsecond"), ("two", "")]
