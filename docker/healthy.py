"""Exit 0 when a service answers, and when the part of it that is named says that it is well. No package is needed."""

import json
import sys
from urllib.request import urlopen

WELL = ("healthy", "ALIVE")


def healthy(url: str, part: str = "") -> bool:
    """Whether the address answers; with a part, whether the answer calls it well."""
    with urlopen(url, timeout=5) as answer:
        text = answer.read()
    if not part:
        return True
    found = json.loads(text)[part]
    return (found["status"] if isinstance(found, dict) else found) in WELL


if __name__ == "__main__":
    sys.exit(0 if healthy(*sys.argv[1:]) else 1)
