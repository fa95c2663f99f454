"""Distribution of a dataset's values: profiles of versions, and the changes between two of them."""
