"""Sinks: every format gets every published row once, whatever is killed."""
