"""Choice of the step to replay for some rows."""

from __future__ import annotations

from provspark.index_store.query.asking import Asked
from provspark.index_store.query.nodes import WriteNode
from provspark.model.errors import ReplayError
from provspark.replay.crossings import crossed
from provspark.replay.records import Replayed
from provspark.replay.replayer import Replayer

__all__ = ["replay_step"]


def replay_step(replayer: Replayer, asked: Asked, step: str | None, all_sources: bool) -> tuple[WriteNode, Replayed]:
    """Replay `step` or, if it is None, the step that made the rows, or else the only one that read them."""
    made = {n: r for _, n, r in crossed(asked.view.back.links(asked.at, "backward"), asked.labels)}
    chosen = {n: r for n, r in made.items() if step in (None, n.step)}
    if len(chosen) == 1:
        ((node, runs),) = chosen.items()
        return node, replayer.outputs(node, runs)
    read = [
        (v, n, r)
        for v, n, r in crossed(asked.view.ahead.links(asked.at, "forward"), asked.labels)
        if step in (None, n.step)
    ]
    nodes = {n for _, n, _ in read} if not chosen else set(chosen)
    if len(nodes) != 1:
        names = sorted({n.step for n in nodes}) or sorted({n.step for n in made})
        told = (
            f"steps {', '.join(names)} made or read these rows; pass one of them as step="
            if names
            else "no captured step made or read these rows"
        )
        raise ReplayError(f"it is not clear which step of {asked.at.version.dataset} to replay: {told}")
    (node,) = nodes
    return node, replayer.inputs(node, {v: r for v, _, r in read}, all_sources=all_sources)
