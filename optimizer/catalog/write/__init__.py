"""A catalog written back.

- edit: Adds or removes one query of a catalog folder; a reader sees the folder before or after, never between.
- write: A catalog as text again: whatever is printed here loads as the same catalog.
"""
