"""AsOfJoin."""
