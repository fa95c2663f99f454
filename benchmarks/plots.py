"""Draws what the benchmarks measured last into docs/plots/: SVG, the same bytes for the same figures."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT
from benchmarks.pairs import RESULTS, Measured, load

FOLDER = ROOT / "docs" / "plots"
BLUE, ORANGE, GREY = "#2f6fb5", "#d9822b", "#9a9a9a"


def main() -> None:
    """Draw all for which there are figures."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "provspark", "font.size": 9, "axes.spines.top": False})
    matplotlib.rcParams["axes.spines.right"] = False
    FOLDER.mkdir(exist_ok=True)
    for suite, title in (("tpch-1", "TPC-H, scale factor 1"), ("tpch-10", "TPC-H, scale factor 10")):
        _ratios(load(suite), title, FOLDER / f"ratios-{suite}.svg")
        _bytes(load(suite), title, FOLDER / f"bytes-{suite}.svg")
    _ratios(load("tpcds-1"), "TPC-DS, scale factor 1", FOLDER / "ratios-tpcds-1.svg")
    _rows(load("rows"), FOLDER / "rows.svg")
    _cores(load("cores"), FOLDER / "cores.svg")
    if (RESULTS / "steps.json").exists():
        _steps(json.loads((RESULTS / "steps.json").read_text(encoding="utf-8")), FOLDER / "steps.svg")


def _ratios(found: list[Measured], title: str, path: Path) -> None:
    """Bars of the ratio by query, the part of sealing apart."""
    if not found:
        return
    figure, axes = _figure(max(6.0, len(found) / 6))
    names = [m.name for m in found]
    below = [m.unsealed - 1 for m in found]
    axes.bar(names, below, color=BLUE, label="without sealing", bottom=1)
    sealing = [max(0.0, m.ratio - m.unsealed) for m in found]
    axes.bar(names, sealing, bottom=[m.unsealed for m in found], color=ORANGE, label="sealing")
    axes.axhline(1, color=GREY, linewidth=0.8)
    axes.set_ylabel("time with capture / plain time")
    axes.set_title(title)
    axes.tick_params(axis="x", rotation=90)
    axes.legend(frameon=False)
    _save(figure, path)


def _bytes(found: list[Measured], title: str, path: Path) -> None:
    """Bytes an edge against the number of edges."""
    kept = [m for m in found if m.edges]
    if not kept:
        return
    figure, axes = _figure()
    axes.scatter([m.edges for m in kept], [m.size / m.edges for m in kept], color=BLUE)
    for m in kept:
        axes.annotate(m.name, (m.edges, m.size / m.edges), xytext=(3, 3), textcoords="offset points", fontsize=7)
    axes.axhline(2, color=GREY, linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("data edges")
    axes.set_ylabel("bytes per edge, all files")
    axes.set_title(title)
    _save(figure, path)


def _rows(found: list[Measured], path: Path) -> None:
    """Seconds by rows, plain and tracked."""
    if not found:
        return
    figure, axes = _figure()
    rows = [int(m.name.replace(",", "")) for m in found]
    for name, label, colour in (("plain", "plain", GREY), ("tracked", "with capture", BLUE)):
        axes.plot(rows, [statistics.median(getattr(m, name)) for m in found], "o-", color=colour, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rows")
    axes.set_ylabel("s")
    axes.set_title("Filter and group by 1,000 keys, by rows")
    axes.legend(frameon=False)
    _save(figure, path)


def _cores(found: list[Measured], path: Path) -> None:
    """The ratio by cores."""
    if not found:
        return
    figure, axes = _figure()
    cores = [int(m.name) for m in found]
    for name, label, colour in (("ratio", "with sealing", ORANGE), ("unsealed", "without sealing", BLUE)):
        axes.plot(cores, [getattr(m, name) for m in found], "o-", color=colour, label=label)
    axes.set_xticks(cores)
    axes.set_xlabel("cores")
    axes.set_ylabel("time with capture / plain time")
    axes.set_title("TPC-H's Q1, scale factor 1, by cores")
    axes.legend(frameon=False)
    _save(figure, path)


def _steps(found: dict[str, dict[str, list[float]]], path: Path) -> None:
    """The time of a trace by the steps that it goes through, by catalogue."""
    figure, axes = _figure()
    for (name, line), colour in zip(found.items(), (BLUE, ORANGE), strict=False):
        axes.plot(line["steps"], [1000 * s for s in line["seconds"]], "o-", color=colour, label=name)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("steps")
    axes.set_ylabel("ms, warm")
    axes.set_title("A row traced back, by steps on the way")
    axes.legend(frameon=False)
    _save(figure, path)


def _figure(width: float = 6.0) -> tuple[Any, Any]:
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, 3.2), layout="constrained")


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot

    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
