"""The compiled core: one C file that adds posting lists and picks the best items; numpy gives the same bits."""
