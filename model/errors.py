"""All errors of the package, each also a built-in exception; messages say what happened, where, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from urllib.parse import unquote

_MATCHES = 20


class ProvSparkError(Exception):
    """Base class of all errors that the package raises on purpose."""


class StoreUnreachableError(ProvSparkError, OSError):
    """The store can't be reached, or its folder is not a store.

    `reason` is what the store's file system reported, without the location, or "". `file` and `step` name the file of a
    step that can't be read. They are "" if another file, or the whole store, can't be read.
    """

    reason = file = step = ""


class StoreAccessError(StoreUnreachableError, PermissionError):
    """The store answers, but this user or these credentials may not read it."""


class StoreMissingError(StoreUnreachableError):
    """No store exists at this URL: its folder, bucket or format.json is missing.

    `empty` is True if the folder exists and is empty; then the first captured step creates the store.
    """

    def __init__(self, message: str, *, empty: bool = False) -> None:
        super().__init__(message)
        self.empty = empty


class UnpickledAnswerError(StoreUnreachableError):
    """What an answer that was unpickled does not hold itself can't be read, since its store can't be opened.

    `url` is where the store was.
    """

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"this answer was unpickled, and its store {url} can't be opened here: {why} The rows in the answer "
            f"itself can still be read. For more, open the store with provspark.open(…) at its present URL, and pass "
            f"the rows to a query there, or run the query again"
        )
        self.url, self.why = url, why

    def __reduce__(self) -> tuple[type[UnpickledAnswerError], tuple[str, str]]:
        return UnpickledAnswerError, (self.url, self.why)


class StoreReadOnlyError(ProvSparkError, PermissionError):
    """The store can be read but not written to."""


class StoreWriteError(ProvSparkError, OSError):
    """A write to the store failed midway (disk full, connection lost). None of it is visible to readers."""


class InvalidWriteError(ProvSparkError, ValueError):
    """Lineage to be stored is inconsistent: an unknown version, an axis of the wrong size, a box outside its axes."""


def within_store(path: str) -> tuple[str, str]:
    """Return a step file's path within its store, and its step; two "" for any other file."""
    match = re.fullmatch(r"(?:.*/)?(steps/([^/]+)/.+)", path, re.DOTALL)
    return (unquote(match[1]), unquote(match[2])) if match else ("", "")


class StepFileError(ProvSparkError):
    """Base class of errors about one file of a store.

    `file` is its path within the store, `step` the step that it belongs to, and `what` the reason. `file` and `step`
    are "" if the file does not belong to a step.
    """

    def __init__(self, path: str, what: str, message: str) -> None:
        super().__init__(message)
        self.path, self.what = path, what
        self.file, self.step = within_store(path)


class StoreFormatError(StepFileError, ValueError):
    """The store's format is newer than this version of the package can read."""

    def __init__(self, where: str, stored: int, known: int) -> None:
        what = f"store format {stored}; this version of provspark reads up to format {known}"
        super().__init__(where, what, f"{where} has {what}. Upgrade airflow-provider-provspark on this machine.")
        self.stored, self.known = stored, known


class CorruptIndexError(StepFileError, OSError):
    """A file of the store is truncated or was changed: its checksum or structure is wrong."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            path,
            what,
            f"{path} is corrupt: {what}. No answer uses it. Run `provspark repair`, run the step again, "
            f"or restore the file from a backup.",
        )


class UnknownDatasetError(ProvSparkError, LookupError):
    """No step of the store read or wrote a dataset with this name.

    `broken` is the number of steps that can't be read. `until` is the time by which the steps must have ended, or "".
    """

    def __init__(self, name: str, known: Iterable[str], broken: int = 0, until: str = "") -> None:
        said = f"No dataset named {name!r} in this store" + _near(name, known, "provspark ls", broken)
        if until:
            said = f"No dataset {name!r} as of {until}: no step that read or wrote it had ended. Pass a later as_of."
        super().__init__(said)
        self.name = name


class UnknownStepError(ProvSparkError, LookupError):
    """No published step has this ID."""

    def __init__(self, name: str, known: Iterable[str], broken: int = 0) -> None:
        super().__init__(f"No step named {name!r} in this store" + _near(name, known, "provspark ls --steps", broken))
        self.name = name


class AmbiguousStepError(UnknownStepError):
    """The beginning of a step's id that is that of several steps; `matches` are their ids."""

    def __init__(self, name: str, matches: Iterable[str]) -> None:
        self.name, self.matches = name, tuple(matches)
        shown = ", ".join(self.matches[:_MATCHES])
        left = len(self.matches) - _MATCHES
        more = f" and {left} more" if left > 0 else ""
        said = f"Step prefix {name!r} matches {len(self.matches)} steps: {shown}{more}. Pass more of the id."
        LookupError.__init__(self, said)

    def __reduce__(self) -> tuple[type[AmbiguousStepError], tuple[str, tuple[str, ...]]]:
        return AmbiguousStepError, (self.name, self.matches)


class StepRemovedError(UnknownStepError):
    """The step was removed from the store while it was being read; no answer uses what is left of it."""

    def __init__(self, name: str, where: str) -> None:
        LookupError.__init__(
            self, f"Step {name!r} was removed from {where} (provspark gc) while it was being read. Ask again."
        )
        self.name = name


class UnknownVersionError(ProvSparkError, LookupError):
    """No step of the store read or wrote this version of the dataset."""

    def __init__(self, dataset: str, version: str, known: Iterable[str]) -> None:
        known = list(known)
        shown = ", ".join(known[-5:]) + (f" and {len(known) - 5} older ones" if len(known) > 5 else "")
        none = "It has no stored version of this dataset: first run a captured job that reads or writes it."
        advice = f"Pass one of its versions: {shown}." if known else none
        super().__init__(f"No version {version!r} of {dataset} in this store. {advice}")
        self.dataset, self.version = dataset, version


class UnknownRunError(ProvSparkError, LookupError):
    """No published step belongs to this run."""

    def __init__(self, run: str, known: Iterable[str], broken: int = 0) -> None:
        super().__init__(f"No run named {run!r} in this store" + _near(run, known, "provspark ls --steps", broken))
        self.run = run


class RowOutOfRangeError(ProvSparkError, IndexError):
    """The row id is not between 0 and the version's last row."""

    def __init__(self, dataset: str, row: int, rows: int) -> None:
        valid = f"row ids go from 0 to {rows - 1}" if rows else "it is empty"
        super().__init__(f"row {row} of {dataset} does not exist: this version has {rows} rows, {valid}")
        self.row, self.rows = row, rows


class VersionChangedError(ProvSparkError, RuntimeError):
    """The files of a version changed since it was captured: its row ids are still valid, but its values are gone."""


class ValuesUnavailableError(ProvSparkError, RuntimeError):
    """Values can't be read by row position, because of the file format or its options; row ids are still valid."""


class ReplayError(ProvSparkError, RuntimeError):
    """A step's operations can't be replayed: none are stored, or Spark can't run here."""


class ReplayCancelledError(ReplayError):
    """A replay was cancelled before it ended."""


class UntrackedError(ProvSparkError, LookupError):
    """The question needs the lineage of a step that was not captured."""


class ConditionError(ProvSparkError, ValueError):
    """A condition (column, operator, value) is malformed or does not fit the dataset."""


class ArgumentError(ProvSparkError, TypeError):
    """An argument has the wrong type, an unknown parameter name, or is an empty name."""


class AnswerMemberError(ProvSparkError, AttributeError):
    """Answers of this kind lack an attribute that others have; the message says what to use instead."""

    def __init__(self, answer: str, member: str, instead: str) -> None:
        super().__init__(f"{answer} has no attribute {member!r}: {instead}")
        self.answer, self.member = answer, member


class UnknownColumnError(ConditionError, LookupError):
    """The dataset has no column with this name."""


def near_columns(owner: object, name: str, names: Iterable[str]) -> UnknownColumnError:
    """Return the error for a column that `owner` lacks; it suggests names that are similar."""
    names = list(names)
    near = get_close_matches(name, names, 3, 0.6)
    hint = "it has " + ", ".join(names) if names else "its columns are not known"
    hint = "did you mean " + " or ".join(near) + "?" if near else hint
    return UnknownColumnError(f"{owner} has no column {name!r}; {hint}")


class ExpectationError(ProvSparkError, AssertionError):
    """An answer differs from what `expect` or the check requires."""


class UnsupportedPlanError(ProvSparkError, NotImplementedError):
    """The plan can't be captured exactly. The message names the plan node and, if known, the line of the script."""

    def __init__(self, node: str, why: str, site: str = "") -> None:
        super().__init__(f"{node}: {why}" + (f" ({site})" if site else ""))
        self.node, self.why, self.site = node, why, site

    def at(self, site: str) -> UnsupportedPlanError:
        """Return the same error with the ``file:line`` of the script."""
        return UnsupportedPlanError(self.node, self.why, site)


class CaptureError(ProvSparkError, RuntimeError):
    """Capture failed during a write. The write itself is done, or goes on without capture."""


class ConcurrentWriteError(ProvSparkError, RuntimeError):
    """Two tasks write to the same path at the same time."""


class StepExistsError(ProvSparkError, FileExistsError):
    """A step with this ID is already published or being published."""


class SettingsError(ProvSparkError, ValueError):
    """An argument, connection or configuration option is missing or invalid."""


class VersionMismatchError(ProvSparkError, ImportError):
    """The installed versions of pyspark and pyspark-client differ."""


class JavaNotFoundError(ProvSparkError, FileNotFoundError):
    """No Java installation that Spark can use was found."""


class PackageMissingError(ProvSparkError, ImportError):
    """A package that a part of ProvSpark needs is not installed."""

    def __init__(self, part: str, package: str) -> None:
        super().__init__(f"{part} needs {package}, which is not installed. Install it with `pip install {package}`.")
        self.package = package


class QuestionCancelledError(ProvSparkError, RuntimeError):
    """The question was cancelled because nobody waits for its answer any more."""


class TooManyStepsError(ProvSparkError, RuntimeError):
    """The question follows more steps than this server allows."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The query spans more than {limit:,} steps, this server's limit ([provspark] max_steps). Set `to` to the "
            f"dataset where it should end, or start from a version with fewer steps in between. Python and the command "
            f"line have no limit."
        )
        self.limit = limit


class TooManyReplaysError(ReplayError):
    """Too many replays are running or waiting. `seconds` is how long to wait before you try again."""

    def __init__(self, why: str, seconds: int) -> None:
        super().__init__(f"{why}; try again in {seconds} seconds")
        self.seconds = seconds


class CatalogueError(ProvSparkError, RuntimeError):
    """The catalogue's database does not answer or has the wrong schema."""


class CatalogueUnreachableError(CatalogueError):
    """The catalogue's database does not answer: host down, name unknown, connection refused or timed out."""


class CatalogueAccessError(CatalogueError):
    """The catalogue's database denies access: wrong password, unknown user, missing permissions."""


class NoCatalogueError(CatalogueError, LookupError):
    """No catalogue exists at this URL, and this call must not create one."""


class EventError(ProvSparkError, ValueError):
    """An OpenLineage event can't be ingested."""


def _near(name: str, known: Iterable[str], command: str, broken: int) -> str:
    known = list(known)
    tails: dict[str, str] = {}
    for full in known:
        tails.setdefault(full.rstrip("/").rsplit("/", 1)[-1], full)
    near = get_close_matches(name, known, 3, 0.6)
    near += [tails[t] for t in get_close_matches(name.rstrip("/").rsplit("/", 1)[-1], tails, 3, 0.6)]
    if near:
        return ". Did you mean " + " or ".join(dict.fromkeys(near)) + "?"
    if known:
        return f", which has {len(known)}. List them with `{command}`."
    if broken:
        steps = "1 step" if broken == 1 else f"{broken} steps"
        return f". {steps} of the store can't be read. Run `provspark verify` to see why."
    return ", which is empty. Run a captured job first, or check the URL of the store."


for _error in list(vars().values()):
    if isinstance(_error, type):
        _error.__module__ = "provspark.errors"  # the module that users import from, for tracebacks and pickles
