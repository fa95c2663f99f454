"""Names of queries, and marks that normalising adds."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("SubqueryAlias", "exact", "a name, or a mark that normalising added"),
        Row(
            "CTERelationDef, CTERelationRef, WithCTE",
            "exact",
            (
                "the query replaces each reference to the CTE; refused if the query is not deterministic and is read "
                "several times, because each reader would get other rows"
            ),
            turned=True,
        ),
        Row("View", "exact", "the query that it names", turned=True),
    )
)
