"""Examples for the help of the questions' commands, by question."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXAMPLES"]

EXAMPLES: Mapping[str, str] = {
    "trace": """\
Examples (`provspark ls` lists the paths and URLs that DATASET can be):
  provspark trace /data/report --row 17
  provspark trace /data/report --where education=Preschool --to /data/census.csv
  provspark trace /data/census.csv --row 3 --forward --json""",
    "backward": """\
Examples:
  provspark backward /data/report --row 17
  provspark backward /data/report --row 17 --to /data/people.csv --context""",
    "forward": """\
Example:
  provspark forward /data/people.csv --row 3 --to /data/report""",
    "cells": """\
Examples:
  provspark cells /data/report --row 17 --column total --context
  provspark cells /data/people.csv --row 3 --column age --forward""",
    "how": """\
Example:
  provspark how /data/report --row 17""",
    "columns": """\
Examples:
  provspark columns /data/report --column total
  provspark columns /data/people.csv --column age --forward""",
    "operations": """\
Examples:
  provspark operations /data/report
  provspark operations clean-1f0c --parts
  provspark operations /data/report --row 17 --column total
  provspark operations /data/people.csv --forward --column age""",
    "dropped": """\
Example:
  provspark dropped /data/people.csv --column fnlwgt""",
    "co_contributory": """\
Example: find the order lines that were joined with order 7 in the report:
  provspark co-contributory /data/orders --row 7 --to /data/lines --via /data/report""",
    "co_dependency": """\
Example: find the report rows that share a person with row 3:
  provspark co-dependency /data/report --row 3 --to /data/report --via /data/people""",
    "composition": """\
Example:
  provspark composition /data/report --source /data/people --column sex""",
    "correspondence": """\
Example: count the rows of the report that come from at least one person without consent:
  provspark correspondence /data/report --to /data/people --using consent=false""",
    "locate": """\
Example: find the row id that row 512 of an older version has now:
  provspark locate /data/log --row 512 --version 1652bf30b994a8577270d871132b62bd""",
    "derivations": """\
Example:
  provspark derivations /data/joined --row 17 --limit 5""",
    "profile": """\
Examples:
  provspark profile /data/people
  provspark profile /data/people --column age --where 'hours>=40'""",
    "operation_profiles": """\
Example (`provspark operations STEP --parts` lists the operation numbers):
  provspark operation-profiles /data/people --operation 3 --column age""",
    "impact": """\
Examples:
  provspark impact /data/imputed --column capital_gain
  provspark impact /data/clean --column sex --shares""",
    "replay": """\
Example:
  provspark replay /data/report --row 17""",
    "history": """\
Examples:
  provspark history /data/people.csv --row 224 --direction forward
  provspark history /data/people.csv --row 224 --column age
  provspark history /data/people.csv --column fnlwgt""",
    "co_contributory_lines": """\
Example (`provspark operations STEP --parts` lists the operation numbers):
  provspark co-contributory-lines /data/joined --row 17 --operation 4 --to 2""",
    "co_dependency_lines": """\
Example (`provspark operations STEP --parts` lists the operation numbers):
  provspark co-dependency-lines /data/joined --row 17 --operation 4 --to 4 --via 2""",
    "why_not": """\
Example:
  provspark why-not /data/report --where customer=42""",
}
