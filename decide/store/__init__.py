"""What is durable: the ledger, reservations and caps, questions and receipts, in SQLite or PostgreSQL (design 8).

`decide.store.opening.open_store` opens it; nothing heavy is imported before that module is.
"""
