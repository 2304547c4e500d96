"""The tests of rungwatch, laid out as its packages are."""
