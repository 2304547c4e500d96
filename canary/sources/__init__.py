"""Where readings come from: one file a source, one table of them; every one reads and none writes."""
