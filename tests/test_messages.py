"""A catalogue of the errors that the package raises: what was found, what to do, in plain words."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("cli", "hooks", "index_store", "model", "operators", "provider", "replay", "tracker")
REASONS = {"CaptureError", "UnsupportedPlanError", "ConcurrentWriteError", "JsonSyntaxError"}
"""Reasons why lineage is missing: the log line that quotes them says what to do (`operators/outcome.py`)."""
OWN_ADVICE = {
    "CorruptIndexError",
    "PackageMissingError",
    "RowOutOfRangeError",
    "StoreFormatError",
    "TooManyReplaysError",
    "UnknownColumnError",
    "UnknownDatasetError",
    "UnknownRunError",
    "UnknownStepError",
    "UnknownVersionError",
}
"""Their text in model/errors.py ends with what to do."""
ADVICE = re.compile(
    r"\b(add|ask|begin|call|change|check|choose|combine|compare|configure|convert|create|cut|declare|delete|don't|drop|enable|"
    r"export|free|profile|give|grant|install|leave|limit|list|make|merge|move|name|narrow|omit|open|pass|point|put|record|reload|"
    r"remove|rename|repeat|replace|request|restore|retry|return|run|save|select|send|set|shorten|split|start|stop|"
    r"try again|turn|unset|upgrade|use|wait|write)\b"
    r"|\bmust (be|have|name|contain|start|not)\b|\bneeds?\b|\b(only )?one of\b|\bnot (both|several)\b|\btakes\b"
    r"|at (least|most) |did you mean|still valid|`provspark|docs/|should find"
    r"|can't confirm|reads up to|maximum is|{}[.)]?$|let this",
    re.IGNORECASE,
)
"""What to do, or what would be right; an interpolated end is advice that the code chooses."""
PRIVATE = re.compile(
    r"\b(told|owed|asked of|taken away|is to be had|spool(ed)?|sidecars?|deal(t|ing)|aims?|maker|groups of groups|"
    r"notes? of tap|legs?|sisters?|walked|stood|stands|beheld|behind these|data sets?|is no [a-z]+ of)\b",
    re.IGNORECASE,
)
"""Words of the code, and words that are not plain English, which docs/glossary.md does not explain."""
FOUND = re.compile(r"{}|{\w+}|--[a-z]|`|PROVSPARK_|\w=|\brows and where\b|timestampNTZFormat|\bsemantics\b")
"""A value, or the option or parameter that is wrong."""
INSIDE = {"AttributeError", "EOFError", "FileNotFoundError", "ImportError", "LookupError", "NotImplementedError"}
INSIDE |= {"AssertionError", "TypeError", "UnknownValueError", "ValueError"}
"""Caught, and named again, by the package itself; or Python's own protocol."""
ENDED = {"QuestionCancelledError", "ReplayCancelledError"}
"""What the user asked for happened."""
OF_THE_WHOLE = {
    "index_store/catalogue/database.py",  # the URL may contain a password
    "index_store/catalogue/facts.py",
    "index_store/query/asking.py",
    "index_store/query/rowset.py",
    "index_store/store/gc.py",
    "index_store/values/json_values.py",
    "model/datasets.py",
    "provider/web/replays.py",
    "provider/web/slots.py",
    "replay/session.py",
    "tracker/attachment.py",
    "tracker/session/traced_cache.py",
}
"""Files with a message about a process or an argument as a whole, of which no value says more."""


@dataclass(frozen=True)
class Message:
    """A message as the code writes it; `{}` is a value."""

    where: str
    error: str
    text: str


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (_text(node.left) or "{}") + (_text(node.right) or "{}")
    return None


def _messages() -> list[Message]:
    messages = []
    for path in sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py") if "node_modules" not in p.parts):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                error = ast.unparse(node.exc.func).rpartition(".")[2]
                texts = [text for arg in node.exc.args if (text := _text(arg)) and " " in text]
                if error.endswith("Error") and not error.startswith("_") and texts:
                    messages.append(Message(f"{path.relative_to(ROOT)}:{node.lineno}", error, " ".join(texts)))
    return messages


MESSAGES = _messages()


def test_the_catalogue_has_messages_of_all_folders() -> None:
    assert len(MESSAGES) > 400
    assert {message.where.split("/")[0] for message in MESSAGES} >= set(FOLDERS) - {"hooks"}


def test_no_message_has_a_private_word() -> None:
    wrong = [m for m in MESSAGES if PRIVATE.search(m.text)]
    assert not wrong, "\n".join(f"{m.where}: {m.text!r} says {PRIVATE.search(m.text)}" for m in wrong)


def test_each_message_names_what_was_found() -> None:
    wrong = [
        m
        for m in MESSAGES
        if m.error not in INSIDE | ENDED | OWN_ADVICE | {"UnsupportedPlanError"} and not FOUND.search(m.text)
    ]
    wrong = [m for m in wrong if m.where.split(":")[0] not in OF_THE_WHOLE]
    assert not wrong, "\n".join(f"{m.where}: {m.error}: {m.text!r}" for m in wrong)


def test_each_error_says_what_to_do() -> None:
    wrong = [m for m in MESSAGES if m.error not in INSIDE | ENDED | OWN_ADVICE | REASONS and not ADVICE.search(m.text)]
    assert not wrong, "\n".join(f"{m.where}: {m.error}: {m.text!r}" for m in wrong)
