"""The pages whose blocks run: each prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _code_blocks import ROOT
from _doc_worlds import world

DOCS = ROOT / "docs"


def guides() -> list[Path]:
    """Return the how-to guides in the order of their index, which is that in which they run."""
    (listed,) = re.findall(r"```{toctree}\n(?::.*\n)*\n(.*?)```", (DOCS / "how-to/index.md").read_text(), re.DOTALL)
    return [DOCS / "how-to" / f"{name}.md" for name in listed.split()]


def test_every_guide_runs() -> None:
    assert sorted([*guides(), DOCS / "how-to/index.md"]) == sorted((DOCS / "how-to").glob("*.md"))


@pytest.mark.long
@pytest.mark.spark
def test_the_tutorial_and_the_guides() -> None:
    """The guides ask about the tutorial's store."""
    with world("/home/ada/shop") as shop:
        for page in (DOCS / "tutorial.md", *guides()):
            assert shop.run(page) > 1
