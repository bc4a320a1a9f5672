"""Rows of files, tables and frames: reading them, and what their cells say."""
