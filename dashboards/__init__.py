"""What Prometheus and people are given, built from the metric catalog and committed under `generated` and `docs`."""
