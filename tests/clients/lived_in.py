"""Lived in: what people keep in the folders of the two clients, each piece with words by which it is found again."""

import json
from collections.abc import Mapping
from pathlib import Path

MARK = "lived-in-words-of"
HOOKS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop")


def furnish(folder: Path) -> None:
    """Put instructions, hooks, servers and settings into both clients' folders below `folder` and into its home.

    Whatever of it is run leaves a file in `folder/ran`.
    """
    for claude in (folder / "desk", folder / "home" / ".claude"):
        _write(claude, _claude(folder))
    for codex in (folder / "main", folder / "home" / ".codex"):
        _write(codex, _codex(folder))
    (folder / "ran").mkdir()


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def _runs(folder: Path, name: str) -> str:
    return f"touch {folder}/ran/{name}"


def _hooks(folder: Path, name: str) -> dict[str, object]:
    command = {"type": "command", "command": _runs(folder, name)}
    return {event: [{"matcher": "*", "hooks": [command]}] for event in HOOKS}


def _named(name: str) -> str:
    return f"---\nname: {name}\ndescription: {MARK} {name}\n---\n{MARK} {name}\n"


def _claude(folder: Path) -> dict[str, str]:
    server = {"type": "stdio", "command": "/bin/sh", "args": ["-c", _runs(folder, "claude-server")]}
    settings = {
        "env": {"ANTHROPIC_MODEL": "claude-haiku-4-5", "CLAUDE_CODE_MAX_RETRIES": "9"},
        "model": "haiku",
        "outputStyle": "own",
        "apiKeyHelper": _runs(folder, "claude-helper"),
        "hooks": _hooks(folder, "claude-hook"),
    }
    return {
        "CLAUDE.md": f"{MARK} CLAUDE.md\n",
        "settings.json": json.dumps(settings),
        ".claude.json": json.dumps({"mcpServers": {"own": server}}),
        "rules/own.md": f"{MARK} claude-rule\n",
        "agents/own.md": _named("claude-agent"),
        "skills/own/SKILL.md": _named("claude-skill"),
        "output-styles/own.md": _named("own"),
    }


def _codex(folder: Path) -> dict[str, str]:
    config = (
        'model = "gpt-other"\nmodel_reasoning_effort = "xhigh"\n'
        f'developer_instructions = "{MARK} config.toml"\n'
        f'notify = ["/bin/sh", "-c", "{_runs(folder, "codex-notify")}"]\n'
        f'[mcp_servers.own]\ncommand = "/bin/sh"\nargs = ["-c", "{_runs(folder, "codex-server")}"]\n'
    )
    return {
        "AGENTS.md": f"{MARK} AGENTS.md\n",
        "config.toml": config,
        "hooks.json": json.dumps({"hooks": _hooks(folder, "codex-hook")}),
        "rules/default.rules": "",
        "memories/MEMORY.md": f"{MARK} codex-memory\n",
        "skills/own/SKILL.md": _named("codex-skill"),
    }


def reached(text: str) -> set[str]:
    """The pieces whose words are in a text."""
    return {piece.split('"')[0].split("\\")[0].split()[0] for piece in text.split(MARK + " ")[1:]}
