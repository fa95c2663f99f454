"""Ask the store for the whole lineage of an output, in the oracle's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oracle.relation import Witness
from oracle.sources import Source


def names(paths: Mapping[str, Path]) -> dict[str, str]:
    """Data sets' names as the store writes them, to the sources' names."""
    return {f"file://{path}": name for name, path in paths.items()}


def backward(store: Path, output: Path, rows: int, paths: Mapping[str, Path]) -> list[frozenset[Witness]]:
    """Data witnesses of each output row."""
    import provspark

    known = names(paths)
    found: list[set[Witness]] = [set() for _ in range(rows)]
    table = provspark.open(store.as_uri()).backward(str(output), rows=list(range(rows)))
    for line in lines(table):
        if line["kind"] == "data":
            witness = (known[line["dataset"]], line["occurrence"], line["source_row"])
            assert witness not in found[line["row"]], f"{witness} of row {line['row']} is listed twice"
            found[line["row"]].add(witness)
    return [frozenset(w) for w in found]


def forward(
    store: Path, output: Path, sources: Sequence[Source], paths: Mapping[str, Path]
) -> set[tuple[Witness, int]]:
    """Pairs of (witness, output row) that forward finds from all rows of all sources."""
    import provspark
    from provspark.errors import UnknownDatasetError

    pairs = set()
    prov = provspark.open(store.as_uri())
    for source in sources:
        try:
            table = prov.forward(str(paths[source.name]), rows=list(range(len(source.rows))))
        except UnknownDatasetError:
            continue
        for line in lines(table):
            assert line["dataset"] == f"file://{output}"
            if line["kind"] == "data":
                pairs.add(((source.name, line["occurrence"], line["row"]), line["source_row"]))
    return pairs


def transpose(witnesses: Sequence[frozenset[Witness]]) -> set[tuple[Witness, int]]:
    """What forward has to find, given what backward found."""
    return {(w, row) for row, found in enumerate(witnesses) for w in found}


def lines(table: Any) -> list[dict[str, Any]]:
    """Rows of an answer, each once."""
    assert table.column_names == ["row", "dataset", "version", "occurrence", "source_row", "kind"]
    found: list[dict[str, Any]] = table.to_pylist()
    assert len({tuple(line.values()) for line in found}) == len(found), "an answer repeats a line"
    return found
