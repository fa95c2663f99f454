"""The code blocks of README and docs, and what their pages say of running them.

A comment right above a block says what becomes of it::

    <!-- not run: REASON -->
    <!-- file: NAME -->
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("python", "console")
"""Blocks in these languages run unless a comment says why not."""
DIRECTIVES = ("{eval-rst}", "{toctree}")
"""Blocks that Sphinx reads, and that are no code."""
_BLOCK = re.compile(
    r"(?:^ *<!-- (?P<kind>not run|file): (?P<said>[^\n]+) -->\n\n?)?"
    r"^(?P<indent> *)```(?P<language>[^\n]*)\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    code: str
    reason: str = ""
    """Why it does not run."""
    file: str = ""
    """The file that it is the content of."""

    def __str__(self) -> str:
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page
        return f"{page}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    out = []
    for match in _BLOCK.finditer(text):
        if match["language"] not in DIRECTIVES:
            line = text.count("\n", 0, match.start("language")) + 1
            said = {"not run": "reason", "file": "file"}.get(match["kind"] or "")
            told = {said: match["said"]} if said else {}
            out.append(Block(page, line, match["language"], textwrap.dedent(match["code"]), **told))
    return out


def unsettled(page: Path) -> list[Block]:
    """Return the blocks that neither run, nor are a file or an output, nor say why they don't run."""
    out, before = [], None
    for block in blocks(page):
        output = block.language == "text" and before is not None and before.language == "python" and not before.reason
        if not (block.language in RUN or block.reason or block.file or output):
            out.append(block)
        before = block
    return out
