"""Records that the catalogue returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provspark.model.datasets import Dataset, Unit
from provspark.model.steps import StepKey

Status = Literal["running", "succeeded", "failed"]
VersionRole = Literal["input", "output"]


@dataclass(frozen=True, slots=True, order=True)
class StepRef:
    """URL of a store, and a step's name in it."""

    store: str
    step: str


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step in the catalogue.

    Parameters
    ----------
    ref : StepRef
    key : StepKey or None
        None until an event with the run facet arrives.
    status : {"running", "succeeded", "failed"}
        From the manifest once it is known, before that from the events.
    started, ended : str
        UTC, ISO 8601 with microseconds; empty if unknown.
    untracked : bool
        True if the manifest has reasons that apply to the whole step.
    answers : bool
        True for the last successful try of its task instance, which questions are answered from.
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
        Number of rows for this step: reader options decide what a row is.
    files : int or None
        Number of files; None if no event contained it.
    coverage : str
        Of an output: ``exact``, ``coarse`` or ``untracked``; empty for inputs.
    files_read : bool
        True if the file list could be read from the store; else only equal ids link.
    unit : {"row", "file"}
        Unit of `rows`: whole files if their rows were not counted.
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
        The same step if a later write of a script reads an earlier one's output.
    output, input : str
        Version ids: of the dataset as the producer left it, and as the consumer read it.
    output_dataset, input_dataset : Dataset
        They differ if the consumer read a folder within the producer's.
    files : int or None
        Number of files that the producer wrote and the consumer read; None if a file list could not be read, so that
        the link relies on equal version ids.
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
    """Result of ingesting one event.

    Parameters
    ----------
    ref : StepRef or None
        None if the event has no ProvSpark facet: it was ignored, or kept as a declaration.
    status : str
        Status of the step after the event; empty if there is no step.
    versions : int
        Number of inputs and outputs that the event names.
    unread : tuple of str
        Reasons why file lists could not be read, one per version; such versions link by equal ids only.
    declared : bool
        True if the event has no ProvSpark facet and was kept, because it names an input and an output.
    """

    ref: StepRef | None
    status: str = ""
    versions: int = 0
    unread: tuple[str, ...] = ()
    declared: bool = False
