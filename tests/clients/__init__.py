"""The canary's word held against the vendors' real clients; run by hand with `make test-clients`, never by pytest."""
