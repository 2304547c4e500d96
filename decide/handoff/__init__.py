"""Handoff: what reaches a person, and how they answer: queue, inbox, acts and clicks (design 4.5, 4.8)."""
