"""MLlib transformers, recreated from the parameters that are stored with the operation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from provspark.model.operations import Operation
from provspark.replay.columns import HIDDEN, distinct, named, quoted
from provspark.replay.contract import Frame, Kit, Refused, ReplayRule, detail, select

__all__ = ["Transform"]

_PARAMETERS_ONLY = frozenset(
    {"Binarizer", "Bucketizer", "DCT", "ElementwiseProduct", "FeatureHasher", "HashingTF", "Interaction", "NGram"}
    | {"Normalizer", "PolynomialExpansion", "RegexTokenizer", "StopWordsRemover", "Tokenizer", "VectorAssembler"}
    | {"VectorSizeHint", "VectorSlicer"}
)
_FITTED = {
    "MaxAbsScalerModel": ("maxAbs",),
    "MinMaxScalerModel": ("originalMin", "originalMax"),
    "StandardScalerModel": ("std", "mean"),
}
"""Vector parameters of fitted models, in the order of the arguments of Spark's constructors."""


class Transform(ReplayRule):
    """Projection by which an MLlib transformer adds its columns to each row."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        before = distinct(kit.operation(operation.children[0]).columns)
        names = [c.name for c in before]
        here = inputs[0].selectExpr(*(f"{quoted(c.label)} AS {quoted(c.name)}" for c in before), *HIDDEN)
        if len(set(names)) < len(names):
            raise Refused(operation, f"{operation.opaque}, and columns of its input share a name; rename them")
        after = _transformer(operation, here.sparkSession).transform(here)
        return select(after, [named(quoted(c.name), c) for c in distinct(operation.columns)])

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        child = kit.focus(operation.children[0])
        return None if child is None else self.build(operation, [child], kit)


def _transformer(operation: Operation, spark: Any) -> Any:
    from pyspark.ml import feature
    from pyspark.ml.wrapper import JavaParams

    kind = detail(operation, "transformer").rpartition(".")[2]
    parameters: dict[str, Any] = json.loads(detail(operation, "parameters") or "null") or {}
    uid = detail(operation, "uid")
    if not parameters:
        raise Refused(operation, operation.opaque)
    if kind in _PARAMETERS_ONLY:
        made = getattr(feature, kind)()
    elif kind == "StringIndexerModel":
        several = parameters.get("inputCols")
        labels = parameters["labelsArray"]
        made = (
            feature.StringIndexerModel.from_arrays_of_labels(labels, several)
            if several
            else feature.StringIndexerModel.from_labels(labels[0], parameters["inputCol"])
        )
    elif kind == "OneHotEncoderModel":
        sizes = parameters["categorySizes"]
        given = spark.sparkContext._gateway.new_array(spark._jvm.int, len(sizes))
        for i, size in enumerate(sizes):
            given[i] = size
        made = feature.OneHotEncoderModel(JavaParams._new_java_obj(f"org.apache.spark.ml.feature.{kind}", uid, given))
    elif kind in _FITTED:
        vectors = [
            spark._jvm.org.apache.spark.ml.linalg.Vectors.dense(_doubles(spark, parameters[n])) for n in _FITTED[kind]
        ]
        made = getattr(feature, kind)(JavaParams._new_java_obj(f"org.apache.spark.ml.feature.{kind}", uid, *vectors))
    else:
        raise Refused(operation, f"{operation.opaque}, and replay does not support this transformer")
    for name, value in parameters.items():
        if made.hasParam(name) and value != f"{uid}__output":  # default of a column that it does not make
            made.set(made.getParam(name), value)
    return made


def _doubles(spark: Any, values: Sequence[float]) -> Any:
    out = spark.sparkContext._gateway.new_array(spark._jvm.double, len(values))
    for i, value in enumerate(values):
        out[i] = float(value)
    return out
