"""Writes the tables of docs/operators.md from the families of operators."""

import re
from pathlib import Path

from provspark.tracker.families.registry import family, names

PAGE = Path(__file__).resolve().parents[1] / "docs" / "operators.md"
HEADS = {
    "followed": "linked input rows, and conditions",
    "turned": "rewritten to",
    "refused": "reason",
}
TABLE = re.compile(r"<!-- (followed|turned|refused) -->\n(?:\|.*\n)*")


def table(which: str) -> str:
    """Return one of the three tables in Markdown."""
    rows = []
    for each in map(family, names()):
        if which == "refused" and each.why is not None:
            rows.append((each.refused, "refused", each.why.reason))
        elif which != "refused":
            rows += [(row.nodes, row.how, row.why) for row in each.rows if row.turned == (which == "turned")]
    head = f"| operators | result | {HEADS[which]} |\n| --- | --- | --- |\n"
    return head + "".join(f"| {_code(nodes)} | {how} | {why} |\n" for nodes, how, why in rows)


def written(page: str) -> str:
    """Return the page with its tables as the families have them."""
    return TABLE.sub(lambda m: f"<!-- {m[1]} -->\n{table(m[1])}", page)


def _code(nodes: str) -> str:
    return re.sub(r"\b(\w+)\b(?![^(]*\))", r"`\1`", nodes)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
