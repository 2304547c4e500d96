"""Rungs: one file for each way of asking a model."""
