"""A catalog written back.

- edit: One query added to or taken out of a catalog folder; a reader sees the folder before or after.
- write: A catalog as text again: whatever is printed here loads as the same catalog.
"""
