"""One folder for each family of Spark's operators (docs/architecture.md, "Families"); `registry` finds them."""
