"""What the catalogue answers with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provspark.model.datasets import Dataset, Unit
from provspark.model.steps import StepKey

Status = Literal["running", "succeeded", "failed"]
VersionRole = Literal["input", "output"]


@dataclass(frozen=True, slots=True, order=True)
class StepRef:
    """A step's name within its store's URL."""

    store: str
    step: str


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What the catalogue knows of a step.

    Parameters
    ----------
    ref : StepRef
    key : StepKey or None
        None where no event has carried the run facet yet.
    status : {"running", "succeeded", "failed"}
        The manifest's once it is known, the event's kind before.
    started, ended : str
        UTC, ISO 8601 with microseconds; empty where unknown.
    untracked : bool
        True where the manifest has reasons that stand for the step as a whole.
    answers : bool
        True for the last good try of its task instance: the one that queries go to.
    """

    ref: StepRef
    key: StepKey | None
    status: Status
    started: str
    ended: str
    untracked: bool
    answers: bool


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """A version as one step read or wrote it.

    Parameters
    ----------
    dataset : Dataset
    version : str
        `Files.identity` of its files.
    ref : StepRef
        The step that read or wrote it.
    role : {"input", "output"}
    rows : int
        As this step read or wrote them: reader options decide what a row is.
    files : int or None
        Number of files; None where no event said.
    coverage : str
        Of an output: ``exact``, ``coarse`` or ``untracked``; empty for inputs.
    files_read : bool
        True where the file list could be read from the store; else only equal ids link.
    unit : {"row", "file"}
        What `rows` counts: whole files where nobody has counted their rows.
    """

    dataset: Dataset
    version: str
    ref: StepRef
    role: VersionRole
    rows: int
    files: int | None
    coverage: str
    files_read: bool
    unit: Unit = "row"


@dataclass(frozen=True, slots=True, order=True)
class StepLink:
    """A consumer read what a producer wrote.

    Parameters
    ----------
    producer, consumer : StepRef
        The same step where a later write of a script reads an earlier one's output.
    output, input : str
        Version ids: as the producer left the data set, and as the consumer found it.
    output_dataset, input_dataset : Dataset
        They differ where the consumer read a folder within the producer's.
    files : int or None
        Files that the producer wrote and the consumer read; None where the link rests on equal
        version ids because a file list could not be read.
    """

    producer: StepRef
    output: str
    output_dataset: Dataset
    consumer: StepRef
    input: str
    input_dataset: Dataset
    files: int | None


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one event brought.

    Parameters
    ----------
    ref : StepRef or None
        None where the event carries no facet of ours: it was left aside, or kept as a declaration.
    status : str
        The step's status after the event; empty where there is none.
    versions : int
        Inputs and outputs that the event named.
    unread : tuple of str
        Why file lists could not be read, one reason a version: such versions link by equal ids only.
    declared : bool
        True where the event has no facet of ours and was kept, because it names an input and an output.
    """

    ref: StepRef | None
    status: str = ""
    versions: int = 0
    unread: tuple[str, ...] = ()
    declared: bool = False
