"""Ways out: the metric catalog, what is collected, and the pages, files and lines that carry it."""
