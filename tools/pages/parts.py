"""Generated parts of a page that is otherwise written by hand: between `<!-- name -->` and `<!-- end -->`."""

from __future__ import annotations

import re
from collections.abc import Mapping


def replace_parts(page: str, texts: Mapping[str, str]) -> str:
    r"""Return the page with every named part replaced by its text.

    >>> replace_parts("# Title\n<!-- sizes -->\nold\n<!-- end -->\n", {"sizes": "new"})
    '# Title\n<!-- sizes -->\nnew\n<!-- end -->\n'
    """
    for name, text in texts.items():
        start = re.escape(f"<!-- {name} -->\n")
        if not re.search(start, page):
            raise ValueError(f"the page has no part {name!r}; write <!-- {name} --> and <!-- end --> where it belongs")
        page = re.sub(f"(?<={start}).*?(?=<!-- end -->)", lambda _, text=text: text + "\n", page, flags=re.DOTALL)  # type: ignore[misc]
    return page
