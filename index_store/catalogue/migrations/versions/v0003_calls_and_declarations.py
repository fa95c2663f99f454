"""Column for the call in a step's key, and tables for what jobs without capture declare in their events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add the column, empty in existing rows, and the two tables."""
    op.add_column("provspark_step", sa.Column("call", sa.Text))
    op.execute("UPDATE provspark_step SET call = '' WHERE task_id IS NOT NULL")
    op.create_table(
        "provspark_foreign",
        sa.Column("id", _ID, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("namespace", "name", "run")),
        *(sa.Column(name, sa.String(32), nullable=False) for name in ("first", "last")),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("dag_id", "task_id", "dag_run")),
        sa.UniqueConstraint("namespace", "name", "run", name="provspark_foreign_run"),
    )
    op.create_table(
        "provspark_foreign_dataset",
        sa.Column("foreign_id", _ID, sa.ForeignKey("provspark_foreign.id"), primary_key=True),
        sa.Column("role", sa.String(6), primary_key=True),
        sa.Column("namespace", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
    )


def downgrade() -> None:
    """Drop the column and both tables."""
    op.drop_table("provspark_foreign_dataset")
    op.drop_table("provspark_foreign")
    with op.batch_alter_table("provspark_step") as table:
        table.drop_column("call")
