"""MLlib transformers: which one is running, and its parameters, including fitted ones."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

_ML = f"{os.sep}pyspark{os.sep}ml{os.sep}"
_MOST = 200_000
"""Maximum length of stored parameters, in characters."""
_FITTED = {
    "ChiSqSelectorModel": ("selectedFeatures",),
    "CountVectorizerModel": ("vocabulary",),
    "IDFModel": ("idf", "docFreq", "numDocs"),
    "KMeansModel": ("clusterCenters",),
    "LinearRegressionModel": ("coefficients", "intercept", "scale"),
    "LogisticRegressionModel": ("coefficientMatrix", "interceptVector"),
    "MaxAbsScalerModel": ("maxAbs",),
    "MinMaxScalerModel": ("originalMin", "originalMax"),
    "OneHotEncoderModel": ("categorySizes",),
    "PCAModel": ("pc", "explainedVariance"),
    "RobustScalerModel": ("median", "range"),
    "StandardScalerModel": ("mean", "std"),
    "StringIndexerModel": ("labelsArray",),
    "UnivariateFeatureSelectorModel": ("selectedFeatures",),
    "VarianceThresholdSelectorModel": ("selectedFeatures",),
    "VectorIndexerModel": ("numFeatures", "categoryMaps"),
}
"""Attributes of fitted models that Spark exposes. An Imputer's values are in its expressions."""


def at_work() -> Any:
    """Return the innermost MLlib transformer that is making a frame, or None."""
    if "pyspark.ml" not in sys.modules:
        return None
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_transform" and _ML in frame.f_code.co_filename:
            return frame.f_locals.get("self")
        frame = frame.f_back  # type: ignore[assignment]
    return None


def described(transformer: Any) -> str:
    """Return a transformer's class, uid and parameters as JSON ("" if too long), separated by null characters."""
    kind = type(transformer)
    values = {param.name: value for param, value in transformer.extractParamMap().items()}
    for name in _FITTED.get(kind.__name__, ()):
        value = getattr(transformer, name)
        values[name] = value() if callable(value) else value
    text = json.dumps(values, default=_plain, sort_keys=True)
    return "\0".join((f"{kind.__module__}.{kind.__qualname__}", transformer.uid, text if len(text) <= _MOST else ""))


def _plain(value: Any) -> Any:
    """Convert vectors, matrices and arrays to lists, and other values that JSON lacks to text."""
    if hasattr(value, "toArray"):
        value = value.toArray()
    if hasattr(value, "tolist"):
        return value.tolist()
    try:
        return list(value)
    except TypeError:
        return str(value)
