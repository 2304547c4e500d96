"""How Alembic reaches the database: over the connection, and in the transaction, that it is handed."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, version_table=context.config.attributes["version_table"])
with context.begin_transaction():
    context.run_migrations()
