"""A plan as plain Spark SQL: the sharing without the engine."""

from __future__ import annotations

from optimizer.rewrite.answer_types import answer_types
from optimizer.rewrite.script import Script, rewrite

__all__ = ["Script", "answer_types", "rewrite"]
