"""How the values of a data set are distributed: profiles of versions, and what changed between two of them."""
