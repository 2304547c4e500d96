"""Dependency audit: what is installed is what constraints.txt names, and no advisory that can be had applies."""

import json
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = "rungwatch"
UNREACHABLE = re.compile(
    r"ConnectionError|ConnectTimeout|ReadTimeout|NameResolution|Max retries|ServiceError|HTTPError", re.I
)


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, str]:
    """Name and exact version of each constraint; raises ValueError for a line that is not one."""
    found = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        text = line.split("#")[0].strip()
        if not text:
            continue
        name, sep, version = text.partition("==")
        if not sep or "/" in text or "@" in text:
            raise ValueError(f"constraints.txt: {text!r} is not NAME==VERSION")
        found[_canonical(name)] = version
    return found


def differences() -> list[str]:
    """Installed distributions that constraints.txt does not name, or names with another version."""
    constraints = pinned()
    found = []
    for distribution in distributions():
        name = _canonical(distribution.metadata["Name"])
        version = distribution.version.removeprefix("v")  # a leading v means nothing (PEP 440)
        if name not in (OURS, "setuptools") and constraints.get(name) != version:
            found.append(f"{name} {version}: constraints.txt says {constraints.get(name, 'nothing')}")
    return sorted(found)


def advisories() -> tuple[int, str]:
    """1 when an advisory applies, and what was found; says plainly for how many packages none could be looked up."""
    command = [sys.executable, "-m", "pip_audit", "-r", "constraints.txt", "--no-deps", "--disable-pip", "-f", "json"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - our own words
    try:
        packages = json.loads(run.stdout)["dependencies"]
    except (ValueError, KeyError):
        return 0, "no advisory service can be reached from here; none was looked up"
    skipped = sum("skip_reason" in package for package in packages)
    hit = [
        f"{p['name']} {p['version']}: {', '.join(v['id'] for v in p['vulns'])}" for p in packages if p.get("vulns")
    ]
    looked = f"{len(packages) - skipped} of {len(packages)} packages looked up for advisories"
    return (
        (1, "\n".join([looked, *hit]))
        if hit
        else (0, f"{looked}, none applies" if skipped < len(packages) else looked)
    )


def main() -> int:
    """Exit code 1 when a distribution differs from the constraints or an advisory applies."""
    wrong = differences()
    for line in wrong:
        print(line, file=sys.stderr)
    code, said = advisories()
    print(f"audit: {said}")
    return 1 if wrong or code else 0


if __name__ == "__main__":
    sys.exit(main())
