"""Watches both rungs on a schedule without ever calling a model; the only place where everything is wired."""
