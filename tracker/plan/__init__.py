"""Plans: normalised by rules of Spark, then rewritten so that each row carries provenance columns."""
