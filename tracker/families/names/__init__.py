"""Names of queries, and marks that normalising adds."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("SubqueryAlias", "exact", "the same row: it only names a query"),
        Row(
            "CTERelationDef, CTERelationRef, WithCTE",
            "exact",
            (
                "the CTE's query, in place of each reference. Refused if the query is not deterministic and is read "
                "several times, because each reference would return different rows"
            ),
            turned=True,
        ),
        Row("View", "exact", "the view's query", turned=True),
    )
)
