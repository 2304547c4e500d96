"""The web console: pages rendered on the server, without JavaScript and without anything from outside."""
