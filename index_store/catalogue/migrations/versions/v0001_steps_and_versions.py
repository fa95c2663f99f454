"""Tables of stores, steps, datasets, versions, their uses, and the digests of their files."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _ref(name: str, table: str, primary_key: bool = False) -> sa.Column[int]:
    return sa.Column(name, _ID, sa.ForeignKey(f"provspark_{table}.id"), nullable=False, primary_key=primary_key)


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "provspark_store",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.UniqueConstraint("url", name="provspark_store_url"),
    )
    op.create_table(
        "provspark_step",
        sa.Column("id", _ID, primary_key=True),
        _ref("store_id", "store"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("dag_id", sa.Text),
        sa.Column("run_id", sa.Text),
        sa.Column("task_id", sa.Text),
        sa.Column("map_index", sa.BigInteger),
        sa.Column("try_number", sa.BigInteger),
        sa.Column("status", sa.String(9), nullable=False),
        sa.Column("published", sa.Boolean, nullable=False),
        sa.Column("started", sa.String(32)),
        sa.Column("ended", sa.String(32)),
        sa.Column("untracked", sa.Boolean, nullable=False),
        sa.UniqueConstraint("store_id", "name", name="provspark_step_name"),
    )
    op.create_table(
        "provspark_dataset",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.UniqueConstraint("namespace", "name", name="provspark_dataset_name"),
    )
    op.create_table(
        "provspark_version",
        sa.Column("id", _ID, primary_key=True),
        _ref("dataset_id", "dataset"),
        sa.Column("key", sa.String(32), nullable=False),
        sa.Column("files", sa.BigInteger),
        sa.Column("files_read", sa.Boolean, nullable=False),
        sa.UniqueConstraint("dataset_id", "key", name="provspark_version_key"),
    )
    op.create_table(
        "provspark_use",
        sa.Column("id", _ID, primary_key=True),
        _ref("step_id", "step"),
        _ref("version_id", "version"),
        sa.Column("role", sa.String(6), nullable=False),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("coverage", sa.String(9), nullable=False),
        sa.Column("files_read", sa.Boolean, nullable=False),
        sa.UniqueConstraint("step_id", "version_id", "role", "rows", "coverage", name="provspark_use_all"),
    )
    op.create_index("provspark_use_version", "provspark_use", ["version_id", "role"])
    op.create_table(
        "provspark_version_file",
        _ref("version_id", "version", primary_key=True),
        sa.Column("digest", sa.LargeBinary(16), primary_key=True),
    )
    op.create_index("provspark_version_file_digest", "provspark_version_file", ["digest"])
    op.create_table(
        "provspark_written_file",
        _ref("step_id", "step", primary_key=True),
        _ref("version_id", "version", primary_key=True),
        sa.Column("digest", sa.LargeBinary(16), primary_key=True),
    )
    op.create_index("provspark_written_file_digest", "provspark_written_file", ["digest"])


def downgrade() -> None:
    """Drop all tables."""
    for name in ("written_file", "version_file", "use", "version", "dataset", "step", "store"):
        op.drop_table(f"provspark_{name}")
