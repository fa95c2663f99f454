"""What the docs promise: a sentence with "never" names the test that holds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
