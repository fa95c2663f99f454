"""What Spark says of itself."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="CommandResult, PythonWorkerLogs (from 4.1)",
    why=Refusal("what Spark says of itself is no data set", "collect it, and make a frame of what you need"),
)
