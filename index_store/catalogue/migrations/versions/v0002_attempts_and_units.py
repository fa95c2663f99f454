"""Columns for the attempt in a step's key, and for the unit of a version's rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ALL = ("step_id", "version_id", "role", "rows", "coverage")


def upgrade() -> None:
    """Add both columns; existing rows get the first attempt, and count rows."""
    op.add_column("provspark_step", sa.Column("attempt", sa.BigInteger))
    op.execute("UPDATE provspark_step SET attempt = 0 WHERE task_id IS NOT NULL")
    with op.batch_alter_table("provspark_use") as table:
        table.add_column(sa.Column("unit", sa.String(4), nullable=False, server_default="row"))
        table.drop_constraint("provspark_use_all", type_="unique")
        table.create_unique_constraint("provspark_use_all", [*_ALL, "unit"])


def downgrade() -> None:
    """Drop both columns, and the uses that count files, which the older schema would take for rows."""
    op.execute("DELETE FROM provspark_use WHERE unit <> 'row'")
    with op.batch_alter_table("provspark_use") as table:
        table.drop_constraint("provspark_use_all", type_="unique")
        table.create_unique_constraint("provspark_use_all", list(_ALL))
        table.drop_column("unit")
    with op.batch_alter_table("provspark_step") as table:
        table.drop_column("attempt")
