"""The view of a trace: the sources or results of rows, with their values."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

from provspark.cli.inquiry import Inquiry
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.cli.tables import told
from provspark.model.errors import ValuesUnavailableError, VersionChangedError

if TYPE_CHECKING:
    from provspark.api import Provenance, Trace
    from provspark.index_store.query.trace import TraceNode
    from provspark.model.runs import Runs

__all__ = ["show_trace"]


def show_trace(inquiry: Inquiry, *, limit: int, as_json: bool) -> None:
    """Show a `Trace`: the datasets on the paths, and the rows at their ends with values."""
    prov, to = inquiry.prov, inquiry.argument("to")
    traced = inquiry.answer()
    target = None if to is None else str(prov.graph.known(prov.graph.named(to)))
    wanted = [n for n in traced.nodes if (n.dataset == target if target else n.role == "end")]
    if not target and _leads_nowhere(prov, traced):
        wanted = [traced.nodes[0]]
    if as_json:
        echo_json(_as_json(prov, traced, wanted, limit))
    else:
        _Report(console(), prov, traced, limit).print(wanted, target, inquiry.typed.get("where", ()))


def _leads_nowhere(prov: Provenance, traced: Trace) -> bool:
    """Whether no captured step wrote (or read) the selected rows, so that they are their own answer."""
    asked = traced.nodes[0]
    stopped = any(stop.what != "unreadable" for stop in traced.stops)
    if len(traced.nodes) > 1 or stopped or not asked.met:
        return False
    ask = prov.backward if traced.direction == "backward" else prov.forward
    return bool(ask(asked.dataset, asked.met.rows(), version=asked.version).parts)


def _first(runs: Runs, limit: int) -> list[int]:
    rows: list[int] = runs.at(np.arange(min(limit, runs.count))).tolist()
    return rows


def _values(prov: Provenance, node: TraceNode, limit: int) -> tuple[list[int], Any, str]:
    """Return the first row ids, and their values as a table, or None and the reason why they can't be read."""
    ids = _first(node.met, limit)
    try:
        return ids, prov.values(node.dataset, ids, version=node.version).columns_only(), ""
    except (VersionChangedError, ValuesUnavailableError) as e:
        return ids, None, str(e)


def _as_json(prov: Provenance, traced: Trace, wanted: list[TraceNode], limit: int) -> dict[str, Any]:
    out = traced.as_dict()
    out["asked"] = out["nodes"][0]["dataset"]
    out["answers"] = []
    for node in wanted:
        ids, table, why = _values(prov, node, limit)
        answer: dict[str, Any] = {"node": node.id, "dataset": node.dataset, "version": node.version}
        answer |= {"rows": node.met.count, "total": node.total}
        if table is None:
            answer |= {"values": None, "why": why, "first": ids}
        else:
            answer["values"] = [{"row": i, "values": v} for i, v in zip(ids, table.to_pylist(), strict=True)]
        out["answers"].append(answer)
    return out


class _Report:
    """A trace as text for a terminal."""

    def __init__(self, out: Console, prov: Provenance, traced: Trace, limit: int) -> None:
        self._out, self._prov, self._trace, self._limit = out, prov, traced, limit

    def print(self, wanted: list[TraceNode], target: str | None, where: tuple[str, ...]) -> None:
        """Print the selected rows, the datasets on the paths, the rows at their ends, and the stops."""
        asked = self._trace.nodes[0]
        rows = asked.met
        if not rows:
            that = f" satisfies {' and '.join(where)}" if where else " is selected"
            self._out.print(Text(f"No row of {asked.dataset}{that}."))
            return
        self._out.print(Text(f"Using {self._trace.used[0]}.", "dim"))
        self._node("Selected: ", asked)
        ends = {n.id for n in wanted}
        for node in self._trace.nodes[1:]:
            if node.id not in ends:
                self._out.print(Text("Through ") + self._line(node))
        backward = self._trace.direction == "backward"
        for node in wanted:
            if node is asked and target:
                self._out.print(Text(f"They are rows of {target} themselves."))
            elif node is asked:
                self._out.print(Text(f"No captured step {'wrote' if backward else 'read'} these rows."))
            else:
                self._node("From " if backward else "To ", node)
        if not wanted:
            self._nothing(target, backward)
        for gone in self._trace.gone:
            self._out.print(Text(f"{gone}."))
        self._endings()
        for stop in self._trace.stops:
            if stop.what == "unreadable":  # `open_provenance` has printed it
                continue
            style, text = told(stop)
            self._out.print(Text(text, style))
        for one in self._trace.trusted:
            self._out.print(Text(f"Trusted: {one}", "dim"))

    def _nothing(self, target: str | None, backward: bool) -> None:
        if not target and not backward and len(self._trace.nodes) > 1:
            where = 'see "Through" above' + (' and "Dropped" below' if self._trace.ended else "")
            self._out.print(Text(f"No result row: captured steps read all rows made from these rows; {where}."))
            return
        what = f"No row of {target}" if target else "No row of any dataset"
        verb = "went into these rows" if backward else "came from these rows"
        known = " in the captured lineage" if self._trace.stops else ""
        self._out.print(Text(f"{what} {verb}{known}."))

    def _endings(self) -> None:
        ended = self._trace.ended
        for ending in ended:
            self._out.print(Text(f"Dropped: {ending}."))
        for ending in list(ended)[:1]:
            rows = f"{quote(ending.source)} --version {ending.version} --row {ended[ending].starts[0]}"
            ask = "To see which operation dropped the first of these rows, run:"
            self._out.print(Text(f"{ask} provspark history {rows} --direction forward", "dim"))

    def _line(self, node: TraceNode) -> Text:
        out = Text()
        out.append(node.dataset, style="bold")
        out.append(f": {node.met.count:,} of {count(node.total)}")
        out.append(", no longer in the current version" if node.gone else "")
        if node.context:
            only = (node.context - node.data).count
            out.append(f", {only:,} of them as context only" if only else "")
        only = (node.possible - node.data - node.context).count
        out.append(f", {only:,} of them possibly" if only else "")
        return out

    def _node(self, word: str, node: TraceNode) -> None:
        self._out.print(Text(word) + self._line(node))
        if not self._limit:
            return
        ids, table, why = _values(self._prov, node, self._limit)
        if table is None:
            listed = ", ".join(map(str, ids))
            self._out.print(Text(f"  {why}", style="yellow"))
            self._out.print(Text(f"  row {listed}" if len(ids) == 1 else f"  rows {listed}"))
        else:
            names = ["row", *table.column_names]
            columns = [ids, *(c.to_pylist() for c in table.columns)]
            print_rows(self._out, names, list(zip(*columns, strict=True)), indent=2)
        more = node.met.count - len(ids)
        if more:
            self._out.print(Text(f"  … {more:,} more; pass --limit", style="dim"))
