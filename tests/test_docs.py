"""What the docs promise: a sentence with "never" names the test that holds it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import questions

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SPECIFIED = {"format.md", "matrix.md"}
"""A specification, whose examples tests read, and a table of what ran."""
ABOUT_TESTS = "generated"
"""Sentences on what tests generate promise nothing."""


@pytest.mark.parametrize("page", [p for p in PAGES if p.name not in SPECIFIED], ids=lambda p: p.name)
def test_a_promise_names_its_test(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    sentences = re.split(r"(?<=[.:;])\s|\n(?=[|#-])|\n\n", text)
    promises = [s for s in sentences if re.search(r"\bnever\b", s, re.IGNORECASE) and ABOUT_TESTS not in s]
    for sentence in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)`", sentence)
        assert named, f"{page.name} promises without a test: {sentence.strip()}"
        assert all((ROOT / name).exists() for name in named), sentence


@pytest.mark.parametrize(("section", "table"), questions.SECTIONS.items())
def test_the_questions_page_prints_the_calls_that_are_asked(
    section: str, table: tuple[questions.Question, ...]
) -> None:
    """`tests/provider/test_pipelines.py` asks them on each pipeline."""
    page = questions.REPORT.read_text(encoding="utf-8")
    lines = page.split(f"<!-- {section} -->")[1].split(f"<!-- /{section} -->")[0].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.split("|")[1:6]] for line in lines]
    printed = [(name, definition, on, call.strip("`")) for name, definition, _, on, call in cells]
    assert printed == [
        (question.name, question.definition, questions.LABELS[pipeline], call)
        for question in table
        for pipeline, call in question.calls.items()
    ]
