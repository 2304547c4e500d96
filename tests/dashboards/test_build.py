"""build and check: what is committed is what would be built; settings and a time scale change it; wrong ones are named."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from canary.cli.main import rungwatch
from dashboards.build import files
from dashboards.scale import Scale
from dashboards.settings import Settings
from dashboards.stack import SOURCE_UID
from tests.dashboards.promtool import SETTINGS
from tests.exporters.services import need

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "dashboards" / "generated"
FILES = files(SETTINGS)


def command(*arguments: str) -> Result:
    """The command's result."""
    return CliRunner().invoke(rungwatch, ["dashboards", *arguments])


def test_what_is_committed_is_what_would_be_built() -> None:
    there = {path.relative_to(COMMITTED).as_posix(): path for path in COMMITTED.rglob("*") if path.is_file()}
    assert sorted(there) == sorted(FILES)
    assert [name for name, path in there.items() if path.read_text(encoding="utf-8") != FILES[name]] == []


def test_building_twice_writes_once(tmp_path: Path) -> None:
    first, second = (json.loads(command("build", "--out", str(tmp_path), "--json").output) for _ in range(2))
    assert (sorted(first["written"]), second["written"]) == (sorted(FILES), [])


def test_check_names_what_is_missing_and_what_differs(tmp_path: Path) -> None:
    command("build", "--out", str(tmp_path))
    assert command("check", "--out", str(tmp_path)).exit_code == 0
    (tmp_path / "rules.yml").write_text("groups: []\n", encoding="utf-8")
    (tmp_path / "compose.yml").unlink()
    result = command("check", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert f"differs  {tmp_path / 'rules.yml'}" in result.output
    assert f"missing  {tmp_path / 'compose.yml'}" in result.output
    document = json.loads(command("check", "--out", str(tmp_path), "--json").output)
    assert document["wrong"] == {"rules.yml": "differs", "compose.yml": "missing"}


def test_settings_change_what_is_built(tmp_path: Path) -> None:
    path = tmp_path / "alerts.toml"
    path.write_text(
        'objective = 0.95\ntickets_url = "http://127.0.0.1:9/t"\n[[burns]]\nlong_s = 7200\nshort_s = 600\nfactor = 8\n'
    )
    assert command("build", "--out", str(tmp_path / "out"), "--settings", str(path)).exit_code == 0
    rules = (tmp_path / "out" / "rules.yml").read_text()
    assert "(job_instance:ladder_budget_burn:ratio_2h > 8 and job_instance:ladder_budget_burn:ratio_10m > 8)" in rules
    assert "/ 0.05" in rules
    assert "http://127.0.0.1:9/t" in (tmp_path / "out" / "alertmanager.yml").read_text()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("objectiv = 0.9", "objectiv: unknown key; allowed are alertmanager, "),
        ("objective = 2.0", "objective: above 0 and at most 1, not 2.0"),
        ("objective = 1.0", "objective: below 1"),
        ("missed_ticks = 0", "missed_ticks: above 0"),
        ('lead_s = "soon"', "lead_s: "),
        ("[[burns]]\nlong_s = 60\nshort_s = 60\nfactor = 1", "short_s: between 0 and long_s"),
        ("[scale]\nspeed = 0", "speed: above 0"),
        ("objective", "Expected '='"),
    ],
)
def test_wrong_settings_name_the_key(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "alerts.toml"
    path.write_text(text)
    result = command("build", "--out", str(tmp_path / "out"), "--settings", str(path))
    assert (result.exit_code, told in result.output) == (64, True), result.output
    assert str(path) in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("scale", ["fast", "0", "1,2,3,4"])
def test_a_wrong_time_scale_is_usage(scale: str) -> None:
    result = command("build", "--time-scale", scale)
    assert (result.exit_code, "SPEED" in result.output) == (64, True)


def test_a_time_scale_turns_spans_into_real_time() -> None:
    rules = files(Settings(scale=Scale(120, 1000, 5000)))["rules.yml"]
    assert "last_over_time(ladder_rung_reachable[2500ms]) == 0" in rules
    assert "(5000.000 + 120 * (time() - 1000.000))" in rules
    assert "for: 5s" in rules
    assert "deriv(ladder_seat_quota_used_ratio[30s]) / 120" in rules


@pytest.mark.prometheus
def test_prometheus_takes_its_files_at_any_scale(tmp_path: Path) -> None:
    for folder, scale in (("real", Scale()), ("fast", Scale(180, 1789041600, 1789041600))):
        made = files(Settings(scale=scale))
        (tmp_path / folder).mkdir()
        for name in ("prometheus.yml", "rules.yml"):
            (tmp_path / folder / name).write_text(made[name], encoding="utf-8")
        path = tmp_path / folder / "prometheus.yml"
        done = subprocess.run((need("promtool"), "check", "config", path), capture_output=True, text=True)
        assert (done.returncode, "FAILED" in done.stdout) == (0, False), done.stdout + done.stderr


def test_the_compose_file_mounts_what_is_built_and_the_servers_find_one_another() -> None:
    compose = yaml.safe_load(FILES["compose.yml"])["services"]
    assert sorted(compose) == ["alertmanager", "grafana", "prometheus"]
    mounted = [one.split(":")[0].removeprefix("./") for found in compose.values() for one in found["volumes"]]
    sources = {one for one in mounted if "/" in one or "." in one or one == "dashboards"}
    assert all(any(name == one or name.startswith(f"{one}/") for name in FILES) for one in sources)
    prometheus = yaml.safe_load(FILES["prometheus.yml"])
    assert prometheus["alerting"]["alertmanagers"][0]["static_configs"] == [{"targets": [SETTINGS.alertmanager]}]
    assert f"--web.listen-address={SETTINGS.alertmanager}" in compose["alertmanager"]["command"]


def test_grafana_is_given_the_data_source_and_the_folder() -> None:
    (source,) = yaml.safe_load(FILES["grafana/provisioning/datasources/rungwatch.yml"])["datasources"]
    assert (source["uid"], source["url"], source["isDefault"]) == (SOURCE_UID, SETTINGS.prometheus_url, True)
    (receipt,) = source["jsonData"]["exemplarTraceIdDestinations"]
    assert receipt["name"] == "receipt"
    (provider,) = yaml.safe_load(FILES["grafana/provisioning/dashboards/rungwatch.yml"])["providers"]
    compose = yaml.safe_load(FILES["compose.yml"])["services"]["grafana"]
    assert any(one.split(":")[1] == provider["options"]["path"] for one in compose["volumes"])
    assert provider["allowUiUpdates"] is False
