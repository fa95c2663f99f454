"""Rows that Spark reports about itself: results of commands, logs of Python workers."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="CommandResult, PythonWorkerLogs (from 4.1)",
    why=Refusal("the output of a command is not a dataset", "collect its rows, and create a DataFrame from them"),
)
