"""docker/compose.yaml as data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
DOCKER = ROOT / "docker"
TEXT = (DOCKER / "compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def asked_for(text: str = TEXT) -> set[str]:
    """The variables that compose refuses to start without."""
    return set(re.findall(r"\$\{(\w+):\?", text))


def environment(service: str, values: dict[str, str]) -> dict[str, str]:
    """What compose would put into a service's environment."""
    found = SERVICES[service].get("environment", {})
    return {name: _filled(str(value), values) for name, value in found.items()}


def _filled(text: str, values: dict[str, str]) -> str:
    text = re.sub(r"\$\{(\w+):\?[^}]*\}", lambda found: values[found[1]], text)
    return re.sub(r"\$\{(\w+):-([^}]*)\}", lambda found: values.get(found[1], found[2]), text)
