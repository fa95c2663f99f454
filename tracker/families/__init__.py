"""One package for each family of Spark's operators (docs/architecture.md, "Families"); `registry` finds them."""
