"""The call of a step's key."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; what is there is no call."""
    op.add_column("provspark_step", sa.Column("call", sa.Text))
    op.execute("UPDATE provspark_step SET call = '' WHERE task_id IS NOT NULL")


def downgrade() -> None:
    """Drop the column."""
    with op.batch_alter_table("provspark_step") as table:
        table.drop_column("call")
