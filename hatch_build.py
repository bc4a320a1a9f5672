"""The build hook of the package: compiles setsearch/core/core.c, which takes seconds.

`python hatch_build.py` compiles it in place, beside its source. SETSEARCH_CORE=1 makes the core mandatory, 0 leaves it
out; by default, without a compiler, the package is built without it, and numpy answers.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("setsearch", "core")
NAME = "core" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-shared"]  # no contraction: the same bits everywhere
if sys.platform != "win32":
    FLAGS += ["-fPIC", "-fvisibility=hidden"]
LIBRARIES = [] if sys.platform == "win32" else ["-lm"]
WAY_OUT = "install a C compiler (such as gcc or clang, or name one in CC) and install setsearch again"


class CoreHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the core into a wheel, or beside its source for an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; a wheel with the core is one of this platform, for any Python."""
        if self.target_name != "wheel":
            return
        in_place, root = Path(self.root, FOLDER, NAME), Path(self.root)
        if version == "editable":
            compile_core(root, in_place)
            return
        self.temporary = tempfile.TemporaryDirectory()
        target = Path(self.temporary.name, NAME)
        if compile_core(root, target):
            build_data["force_include"][str(target)] = (FOLDER / NAME).as_posix()
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform()}"


def compile_core(root: Path, target: Path) -> bool:
    """Compile the core of a source tree; whether it was. Raises RuntimeError if it must be and cannot."""
    wish = os.environ.get("SETSEARCH_CORE", "")
    if wish not in ("", "0", "1"):
        raise RuntimeError(f"SETSEARCH_CORE is 0 or 1, not {wish!r}")
    target.unlink(missing_ok=True)  # an older one must not stay
    problem = "SETSEARCH_CORE is 0" if wish == "0" else _compiled(root / FOLDER / "core.c", target)
    if problem and wish == "1":
        raise RuntimeError(f"the core of setsearch was not compiled ({problem}): {WAY_OUT}")
    if problem:
        print(
            f"setsearch is built without its compiled core ({problem}); for faster answers {WAY_OUT}", file=sys.stderr
        )
    return not problem


def platform() -> str:
    """The platform of this Python, as wheels name it."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _compiled(source: Path, target: Path) -> str:
    """Compile; what kept it from that, or nothing."""
    named = os.environ.get("CC", "").split()
    compilers = [named] if named else [[name] for name in ("cc", "gcc", "clang") if shutil.which(name)]
    if not compilers:
        return "no C compiler was found"
    both = ["-arch", "arm64", "-arch", "x86_64"] if platform().endswith("universal2") else []
    command = [*compilers[0], *FLAGS, *both, "-o", str(target), str(source), *LIBRARIES]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except OSError as error:
        return f"{compilers[0][0]} cannot be started: {error.strerror}"
    except subprocess.CalledProcessError as error:
        return f"{compilers[0][0]} failed: {(error.stderr.strip() or 'it says nothing').splitlines()[0]}"
    return ""


if __name__ == "__main__":
    sys.exit(not compile_core(Path(__file__).parent, Path(__file__).parent / FOLDER / NAME))
