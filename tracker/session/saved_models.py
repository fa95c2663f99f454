"""Files of MLlib models that the script saves or loads. The files of a saved model come from its `fit`, a read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provspark.model.datasets import Dataset, Field
from provspark.model.driver_datasets import LOAD
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.writes import Axis, Untracked
from provspark.tracker.session.coarse_read import from_all
from provspark.tracker.session.driver_reads import Known
from provspark.tracker.session.possible_edges import all_of, one_range
from provspark.tracker.sinks.uncounted import files_of, version_of
from provspark.tracker.spark.jvm import Jvm

__all__ = ["LoadedModel", "model_files", "saved_model"]

FORMAT = "mllib"
_UNKNOWN = "the model was not fitted in this step, so its training data is unknown. Fit and save it in one step"
_COARSE = "the files of a model come from the model as a whole"


def saved_model(
    jvm: Jvm, qualified: str, spans: Sequence[range], size: int, site: str, *, learned: bool
) -> PendingWrite:
    """Return the write of a model's files that were just saved.

    Parameters
    ----------
    jvm : Jvm
    qualified : str
        Scheme, authority and path of the folder, separated by NUL.
    spans : sequence of range
        Rows of the model's fits, among the rows of all reads.
    size : int
        Number of rows of all reads.
    site : str
        ``file:line`` of the call.
    learned : bool
        Whether the object is a model, and not an estimator or a transformer without training data.
    """
    output = model_files(jvm, qualified, written=True)
    dataset, files = output.dataset, output.files
    if learned and not spans:
        return PendingWrite(output, "untracked", reason=Untracked("save", _UNKNOWN, site), site=site)
    axes: tuple[Axis, ...] = (Axis("output", files.total, files.identity(dataset), label=dataset.uri),)
    tensors: tuple[PendingTensor, ...] = ()
    if spans and files.total:
        axes += (Axis("reads", size),)
        tensors = (PendingTensor(0, 1, all_of(one_range(files.total), spans), "data"),)
    reason = Untracked("save", _COARSE, site) if spans else None
    return PendingWrite(output, "coarse", axes=axes, tensors=tensors, reason=reason, site=site)


def model_files(jvm: Jvm, qualified: str, *, written: bool) -> PendingVersion:
    """Return the version of a model's files. `qualified` is as in `saved_model`; `written`: this step wrote them."""
    dataset, files = files_of(jvm, qualified)
    return version_of(dataset, [(file, written) for file in files], FORMAT)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """`Read` of a model that the script loaded."""

    version: PendingVersion
    site: str
    action: str = LOAD
    rows: int = 1
    fields: tuple[Field, ...] = ()
    single: bool = False

    def settle(self, dataset: Dataset, known: Known) -> None:
        """Do nothing: the files are already counted."""

    def resolve(self, output: PendingVersion, known: Known) -> PendingWrite:
        """Relate the model to all its files."""
        return from_all(output, self.rows, (self.version,), Untracked("load", _COARSE, self.site))
