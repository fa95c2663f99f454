"""Checks of a write before any of it is stored."""

from __future__ import annotations

from typing import get_args

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import chunks, is_constant
from provspark.model.errors import InvalidWriteError
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.writes import Axis, Kind

__all__ = ["check_write"]


def check_write(write: PendingWrite, read: int = 0) -> list[str]:
    """Raise an error if a write is inconsistent.

    Parameters
    ----------
    write : PendingWrite
    read : int
        Number of rows that the driver read before it: the maximum size of an axis with the role ``reads``.

    Returns
    -------
    list of str
        Ids of the output and of the inputs, in order.

    Raises
    ------
    InvalidWriteError
        The write is inconsistent; the message names the axis or tensor.
    """
    versions = (write.output, *write.inputs)
    ids = [_identity(v) for v in versions]
    rows = {i: v.files.total for i, v in zip(ids, versions, strict=True)}
    name = f"the write to {write.output.dataset}"
    if write.coverage == "untracked":
        if write.tensors or write.reason is None:
            raise InvalidWriteError(f"{name} is untracked: pass a reason, and no tensors")
    elif not write.axes:
        raise InvalidWriteError(f"{name} has no axes: pass the axis of its output first")
    for i, axis in enumerate(write.axes):
        _check_axis(f"axis {i} of {name}", axis, i, ids, rows)
        if axis.role == "reads" and axis.size > read:
            said = f"axis {i} of {name} has {axis.size} rows of reads, but {read} were read before"
            raise InvalidWriteError(f"{said}. Its size must be at most that.")
    for i, tensor in enumerate(write.tensors):
        _check_tensor(f"tensor {i} of {name}", tensor, write.axes)
    return ids


def _identity(version: PendingVersion) -> str:
    try:
        return version.files.identity(version.dataset)
    except UnicodeEncodeError as e:
        said = f"{version.dataset.name!r} or a file of it has a name that is not valid Unicode"
        raise InvalidWriteError(f"{said}. Rename it and run the step again.") from e


def _check_axis(what: str, axis: Axis, number: int, ids: list[str], rows: dict[str, int]) -> None:
    if (axis.role == "output") != (number == 0):
        raise InvalidWriteError(f"{what} is an {axis.role} axis; axis 0 must be the output, and no other axis")
    if axis.role in ("inner", "reads"):
        if axis.version or axis.size < 0:
            raise InvalidWriteError(f"{what} has the role {axis.role}: pass no version, and a size of at least 0")
        return
    allowed = ids[:1] if axis.role == "output" else ids[1:]
    if axis.version not in allowed:
        raise InvalidWriteError(f"{what} names version {axis.version!r}; it must be one of the {axis.role}s")
    if axis.size != rows[axis.version]:
        raise InvalidWriteError(
            f"{what} has size {axis.size}, but its version has {rows[axis.version]} rows; pass this number as size"
        )


def _check_tensor(what: str, tensor: PendingTensor, axes: tuple[Axis, ...]) -> None:
    if tensor.kind not in get_args(Kind):
        raise InvalidWriteError(f"{what} is of kind {tensor.kind!r}; pass one of {', '.join(get_args(Kind))}")
    for side, number in (("out", tensor.out), ("src", tensor.src)):
        if not 0 <= number < len(axes):
            raise InvalidWriteError(f"{what}: {side} axis is {number}; it must be at least 0 and below {len(axes)}")
    for boxes in tensor.boxes.parts():
        _check_boxes(what, boxes, axes[tensor.out].size, axes[tensor.src].size)


def _check_boxes(what: str, boxes: Boxes, n_out: int, n_src: int) -> None:
    for side, size in (("out", n_out), ("src", n_src)):
        starts, lengths = getattr(boxes, side), getattr(boxes, f"n_{side}")
        if len({len(a) for a in (starts, lengths, boxes.diagonal)}) > 1:
            raise InvalidWriteError(f"{what}: the arrays of its boxes must have one length")
        if starts.dtype != np.int64 or lengths.dtype != np.int64:
            raise InvalidWriteError(
                f"{what}: its boxes must be arrays of int64, found {starts.dtype} and {lengths.dtype}"
            )
        if all(_within(starts[part], lengths[part], size) for part in chunks(len(starts))):
            continue
        outside = (starts < 0) | (lengths < 0) | (lengths > size) | (starts > size - lengths)
        worst = int(np.argmax(outside))
        raise InvalidWriteError(
            f"{what}: box {worst} reaches from {int(starts[worst])} over {int(lengths[worst])} rows, "
            f"but must be within the {side} axis of {size} rows"
        )
    if boxes.n_out is boxes.n_src:
        return
    for part in chunks(len(boxes)):
        square = ~boxes.diagonal[part] | (boxes.n_out[part] == boxes.n_src[part])
        if not square.all():
            raise InvalidWriteError(f"{what}: diagonal box {part.start + int(np.argmin(square))} must be square")


def _within(starts: Int64, lengths: Int64, size: int) -> bool:
    """Return whether all ranges are within an axis; add numbers only where the sum can't overflow."""
    longest = int(lengths[0]) if is_constant(lengths) else int(lengths.max())
    if int(starts.min()) < 0 or longest > size or int(starts.max()) > size:
        return False
    if is_constant(lengths):
        return longest >= 0 and int(starts.max()) <= size - longest
    return int(lengths.min()) >= 0 and int((starts + lengths).max()) <= size
