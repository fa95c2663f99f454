"""Text of the data for people: what can't be seen, or steers a terminal, is escaped."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["SUSPECTS", "is_hidden", "visible"]

_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
_HIDDEN = ("Cc", "Cf", "Zl", "Zp", "Cs")
_JOINER = "\u200d"
_VARIATIONS = "\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
SUSPECTS = re.compile(f"[^ -~\u00a1-\u00ac\u00ae-\u02ff{chr(0x4E00)}-{chr(0x9FFF)}]")
"""Characters that need a look; the others are seen."""


def visible(text: str, *, lines: bool = False) -> str:
    """Escape controls, formats, line separators and blank letters, as ``\\x1b`` and ``\\u202e``.

    With `lines`, line breaks and tabs stay. A zero-width joiner between two symbols stays: it makes one emoji of them.
    """

    def mark(match: re.Match[str]) -> str:
        c, at = match[0], match.start()
        if not is_hidden(c) or (lines and c in "\n\t"):
            return c
        if c == _JOINER and _symbols(text[max(0, at - 8) : at].rstrip(_VARIATIONS)[-1:] + text[at + 1 : at + 2]):
            return c
        return {"\n": "⏎", "\r": "␍", "\t": "⇥"}.get(c) or c.encode("unicode_escape").decode()

    return SUSPECTS.sub(mark, text)


def is_hidden(c: str) -> bool:
    """Whether a character can't be seen, or steers a terminal."""
    return c in _BLANK or unicodedata.category(c) in _HIDDEN


def _symbols(both: str) -> bool:
    return len(both) == 2 and all(unicodedata.category(c) == "So" for c in both)
