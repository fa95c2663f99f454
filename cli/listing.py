"""``provspark ls`` and ``provspark show``: the contents of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from provspark.cli.common import json_option, open_provenance, store_option
from provspark.cli.marks import say
from provspark.cli.operations import OPERATION_NAMES, operation_rows
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.model.datasets import Version
from provspark.model.errors import UnknownStepError
from provspark.model.json_form import jsonable
from provspark.model.steps import Manifest
from provspark.model.writes import Write
from provspark.model.written_rows import written_rows

if TYPE_CHECKING:
    from provspark.api import Provenance
    from provspark.index_store.query.graph import Graph
    from provspark.index_store.query.operation_list import OperationLine

__all__ = ["ls", "show"]

_COVERAGE = {"exact": "green", "coarse": "yellow", "untracked": "red"}


@click.command()
@click.option("--steps", is_flag=True, help="List steps instead of datasets.")
@store_option
@json_option
def ls(steps: bool, store: str | None, as_json: bool) -> None:
    """List the datasets that steps read and wrote, or the steps.

    \b
    Examples:
      provspark ls --store /data/prov
      provspark ls --steps --json
    """
    prov = open_provenance(store)
    table = prov.steps().table() if steps else prov.datasets().table()
    left = prov.unfinished().table().to_pylist() if steps else []
    lines = table.to_pylist() + left
    if as_json:
        echo_json(lines)
    elif not lines:
        say(f"No step of {prov.url} can be read." if prov.broken else f"There is no step yet in {prov.url}.")
    elif steps:
        names = ["step", "task", "status", "started", "coverage", "outputs", "run"]
        print_rows(console(), names, [_step_line(line) for line in lines], cell=80)
        if left:
            say(
                "Unfinished steps are still running or were killed. "
                "Run `provspark repair` to save the lineage of killed steps."
            )
    else:
        names = ["dataset", "rows", "role", "versions", "coverage", "step"]
        print_rows(console(), names, [_dataset_line(line) for line in lines], cell=80)


@click.command()
@click.argument("step")
@store_option
@json_option
def show(step: str, store: str | None, as_json: bool) -> None:
    """Show one step. The output lists what it read and wrote, its operations, and how its lineage is stored.

    STEP is a step's id, or the beginning of one.

    \b
    Example:
      provspark show clean-1f0c
    """
    from provspark.index_store.query.operation_list import operation_table

    prov = open_provenance(store)
    manifest = _find(prov.graph, step)
    written = _written(prov.graph, manifest)
    if as_json:
        operations = operation_table(_operations(prov, manifest)).to_pylist()
        writes = [jsonable(write) | {"written": written.get(write.index)} for write in manifest.writes]
        echo_json(jsonable(manifest) | {"writes": writes, "operations": operations})
    else:
        _print_step(console(), manifest, _operations(prov, manifest), written)


def _written(graph: Graph, manifest: Manifest) -> dict[int, int | None]:
    """Return the number of rows that each write of a step wrote, by the write's number."""
    nodes = (n for n in graph.nodes if n.step == manifest.step and n.write in manifest.writes)
    return {n.write.index: written_rows(n.store, n.step, n.write) for n in nodes}


def _operations(prov: Provenance, manifest: Manifest) -> Sequence[OperationLine]:
    return prov.operations(manifest.step).lines if manifest.writes else ()


def _find(graph: Graph, step: str) -> Manifest:
    known = {m.step: m for m in graph.manifests}
    if (name := graph.step(step)) not in known:
        raise UnknownStepError(step, sorted(known), len(graph.broken))
    return known[name]


def _dataset_line(line: dict[str, Any]) -> list[Any]:
    counts = [f"{line['rows']:,}", line["role"], line["versions"]]
    return [line["dataset"], *counts, line["coverage"] or "", line["step"] or ""]


def _step_line(line: dict[str, Any]) -> list[Any]:
    task = ".".join(p for p in (line["dag_id"], line["task_id"]) if p)
    if line["map_index"] >= 0:
        task += f"[{line['map_index']}]"
    if line["try_number"] > 1:
        task += f", try {line['try_number']}"
    started = line["started"][:19].replace("T", " ")
    coverage = line["coverage"] or ("" if line["status"] == "unfinished" else "nothing written")
    return [line["step"], task, line["status"], started, coverage, ", ".join(line["outputs"]), line["run_id"]]


def _print_step(
    out: Console, manifest: Manifest, operations: Sequence[OperationLine], written: dict[int, int | None]
) -> None:
    key = manifest.key
    task = ".".join(p for p in (key.dag_id, key.task_id) if p)
    out.print(Text(manifest.step, style="bold"))
    out.print(Text(f"  task {task}, run {key.run_id}, try {key.try_number}: {manifest.status}"))
    out.print(Text(f"  {manifest.started} to {manifest.ended}"))
    if manifest.engine:
        out.print(Text("  " + ", ".join(f"{name} {value}" for name, value in manifest.engine), style="dim"))
    if manifest.error:
        out.print(Text(f"  raised {manifest.error}", style="red"))
    for reason in manifest.untracked:
        out.print(Text(f"  untracked: {reason}", style="red"))
    sizes = {f.path: f.size for f in manifest.files}
    for read in manifest.reads:
        _print_read(out, read)
    for write in manifest.writes:
        _print_write(out, write, sizes, written.get(write.index))
        own = [line for line in operations if line.write == write.index]
        if own:
            print_rows(out, OPERATION_NAMES, operation_rows(own), indent=4, cell=60)
    if not manifest.writes:
        out.print(Text("  no captured write"))
    out.print(Text(f"  stored in {count(len(manifest.files), 'file')}, {sum(sizes.values()):,} bytes", style="dim"))


def _print_read(out: Console, read: Write) -> None:
    what = "one number" if read.single else count(read.output.rows)
    head = Text(f"  read {read.index}: {what} by {read.action}, ")
    head.append(read.coverage, style=_COVERAGE[read.coverage])
    out.print(head + Text(f" ({read.site})" if read.site else ""))
    for version in read.inputs:
        out.print(Text(f"    from {version.dataset}, {_size(version)}"))


def _size(version: Version) -> str:
    return count(version.rows, version.unit)


def _print_write(out: Console, write: Write, sizes: dict[str, int], written: int | None) -> None:
    rows = _size(write.output)
    if written is not None and written != write.output.rows:
        rows = f"{count(written)} written, {write.output.rows:,} in the dataset"
    head = Text(f"  write {write.index}: {write.output.dataset}, {rows}, ")
    head.append(write.coverage, style=_COVERAGE[write.coverage])
    out.print(head + Text(f" ({write.site})" if write.site else ""))
    if write.reason:
        out.print(Text(f"    {write.reason}", style=_COVERAGE[write.coverage]))
    for version in write.inputs:
        out.print(Text(f"    from {version.dataset}, {_size(version)}, version {version.id}"))
    lines = []
    for tensor in write.tensors:
        size = sum(sizes.get(p, 0) for p in (tensor.by_out, tensor.by_src) if p)
        ends = (_axis(write, tensor.out), _axis(write, tensor.src))
        lines.append([*ends, tensor.kind, f"{tensor.edges:,}", f"{tensor.boxes:,}", f"{size:,}"])
    if lines:
        print_rows(out, ["tensor from", "to", "kind", "edges", "boxes", "bytes"], lines, indent=4, cell=80)


def _axis(write: Write, number: int) -> str:
    axis = write.axes[number]
    name = {"output": "output", "inner": axis.label or "inner"}.get(axis.role, axis.label or "input")
    return f"{number} {name} ({axis.size:,})"
