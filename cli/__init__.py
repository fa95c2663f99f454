"""The provspark command."""
