"""The commands, a subject a file."""
