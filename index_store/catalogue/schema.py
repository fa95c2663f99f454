"""Tables of the catalogue, as the newest migration leaves them.

Names have a prefix, because a team may keep the catalogue beside other tables in one PostgreSQL database.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

HEAD = "0003"
VERSION_TABLE = "provspark_alembic_version"
DIGEST_BYTES = 16

metadata = MetaData()
_Id = BigInteger().with_variant(Integer, "sqlite")

store = Table(
    "provspark_store",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("url", Text, nullable=False),
    UniqueConstraint("url", name="provspark_store_url"),
)

step = Table(
    "provspark_step",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("store_id", _Id, ForeignKey("provspark_store.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("dag_id", Text),
    Column("run_id", Text),
    Column("task_id", Text),
    Column("map_index", BigInteger),
    Column("try_number", BigInteger),
    Column("status", String(9), nullable=False),
    Column("published", Boolean, nullable=False),
    Column("started", String(32)),
    Column("ended", String(32)),
    Column("untracked", Boolean, nullable=False),
    Column("attempt", BigInteger),
    Column("call", Text),
    UniqueConstraint("store_id", "name", name="provspark_step_name"),
)

dataset = Table(
    "provspark_dataset",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    UniqueConstraint("namespace", "name", name="provspark_dataset_name"),
)

foreign = Table(
    "provspark_foreign",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("first", String(32), nullable=False),
    Column("last", String(32), nullable=False),
    Column("dag_id", Text, nullable=False),
    Column("task_id", Text, nullable=False),
    Column("dag_run", Text, nullable=False),
    UniqueConstraint("namespace", "name", "run", name="provspark_foreign_run"),
)

foreign_dataset = Table(
    "provspark_foreign_dataset",
    metadata,
    Column("foreign_id", _Id, ForeignKey("provspark_foreign.id"), primary_key=True),
    Column("role", String(6), primary_key=True),
    Column("namespace", Text, primary_key=True),
    Column("name", Text, primary_key=True),
)

version = Table(
    "provspark_version",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("dataset_id", _Id, ForeignKey("provspark_dataset.id"), nullable=False),
    Column("key", String(32), nullable=False),
    Column("files", BigInteger),
    Column("files_read", Boolean, nullable=False),
    UniqueConstraint("dataset_id", "key", name="provspark_version_key"),
)

use = Table(
    "provspark_use",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("step_id", _Id, ForeignKey("provspark_step.id"), nullable=False),
    Column("version_id", _Id, ForeignKey("provspark_version.id"), nullable=False),
    Column("role", String(6), nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("coverage", String(9), nullable=False),
    Column("files_read", Boolean, nullable=False),
    Column("unit", String(4), nullable=False, server_default="row"),
    UniqueConstraint("step_id", "version_id", "role", "rows", "coverage", "unit", name="provspark_use_all"),
    Index("provspark_use_version", "version_id", "role"),
)

version_file = Table(
    "provspark_version_file",
    metadata,
    Column("version_id", _Id, ForeignKey("provspark_version.id"), primary_key=True),
    Column("digest", LargeBinary(DIGEST_BYTES), primary_key=True),
    Index("provspark_version_file_digest", "digest"),
)

written_file = Table(
    "provspark_written_file",
    metadata,
    Column("step_id", _Id, ForeignKey("provspark_step.id"), primary_key=True),
    Column("version_id", _Id, ForeignKey("provspark_version.id"), primary_key=True),
    Column("digest", LargeBinary(DIGEST_BYTES), primary_key=True),
    Index("provspark_written_file_digest", "digest"),
)
