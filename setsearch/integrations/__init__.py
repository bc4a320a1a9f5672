"""Where setsearch plugs into other software: one file each, the only one that imports its library."""
