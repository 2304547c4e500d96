"""Tests of `exporters`, one file for each module."""
