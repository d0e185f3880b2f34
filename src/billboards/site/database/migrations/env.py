"""What Alembic runs: the steps asked for, on the connection and in the transaction it was given."""

from __future__ import annotations

from alembic import context

from billboards.site.database.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
context.run_migrations()
