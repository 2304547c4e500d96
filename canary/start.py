"""Start: the console script; a status line is served without the rest of the command line, for its speed."""

import sys


def main() -> None:
    """Run the command that the arguments name."""
    if sys.argv[1:2] == ["feed"]:
        from canary import feed

        sys.exit(feed.main())
    else:
        from canary.cli.main import main as run

        run()


if __name__ == "__main__":
    main()
