"""Capacity: how many seats keep a rung from missing, simulated with the rules by which seats are really picked."""
