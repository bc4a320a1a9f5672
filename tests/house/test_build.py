"""The build hook: how SETSEARCH_CORE says it, and what it says without a compiler."""

import ctypes
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def hook(monkeypatch):
    """The module hatch_build, where no variable says anything."""
    for name in ("SETSEARCH_CORE", "CC"):
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def target(hook, tmp_path):
    """Where the core is put; an older one is there."""
    path = tmp_path / hook.library_name()
    path.write_text("older")
    return path


def requirements(hook, name="wheel"):
    """What a build of a wheel or a source archive needs beside hatchling."""
    return hook.CoreHook(str(ROOT), {}, None, None, "", name).dependencies()


@pytest.mark.long
@pytest.mark.parametrize("wish", ["", pytest.param("1", marks=pytest.mark.long)])
def test_the_compiler_of_the_machine_is_used(hook, target, monkeypatch, wish):
    monkeypatch.setenv("SETSEARCH_CORE", wish)
    assert requirements(hook) == []
    if hook._compiler():
        assert hook.compile_core(ROOT, target)
        assert ctypes.CDLL(str(target)).setsearch_version() > 0


@pytest.mark.parametrize(
    ("wish", "compiler", "problem"),
    [
        ("", "no-such-compiler", "no-such-compiler cannot be started: No such file"),
        ("", "false", "false failed: it says nothing"),
        ("", None, "no C compiler was found"),
        ("0", None, "SETSEARCH_CORE is 0"),
    ],
)
def test_without_a_core_one_line_tells_the_way_out(hook, target, monkeypatch, capsys, wish, compiler, problem):
    monkeypatch.setenv("SETSEARCH_CORE", wish)
    monkeypatch.setenv("CC", compiler) if compiler else monkeypatch.setenv("PATH", "")
    assert not hook.compile_core(ROOT, target)
    assert not target.exists()
    (line,) = capsys.readouterr().err.splitlines()
    assert problem in line
    assert line.endswith(hook.WAY_OUT)


@pytest.mark.parametrize(
    ("wish", "problem"), [("1", "no C compiler was found"), ("yes", "not 'yes'"), ("zig", "No module named ziglang")]
)
def test_a_mandatory_core_ends_the_build_with_a_line(hook, target, monkeypatch, wish, problem):
    monkeypatch.setenv("SETSEARCH_CORE", wish)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYTHONPATH", "")
    if wish == "zig" and importlib.util.find_spec("ziglang"):
        pytest.skip("ziglang is installed here")
    with pytest.raises(SystemExit) as ended:
        hook.compile_core(ROOT, target)
    assert problem in ended.value.code
    assert "\n" not in ended.value.code


def test_ziglang_is_fetched_for_a_wheel_that_asks_for_it(hook, monkeypatch):
    monkeypatch.setenv("SETSEARCH_CORE", "zig")
    assert requirements(hook) == [hook.ZIG]
    assert requirements(hook, "sdist") == []


def test_each_platform_has_its_file_and_its_compiler(hook, monkeypatch):
    names = set()
    for platform, zig in hook.TARGETS.items():
        monkeypatch.setenv("SETSEARCH_CORE", platform)
        assert hook.platform() == platform
        assert hook._compiler()[-2:] == ["-target", zig]
        assert requirements(hook) == [hook.ZIG]
        names.add((platform[:3], hook.library_name()))
    assert names == {("man", "core.so"), ("mus", "core.so"), ("mac", "core.dylib"), ("win", "core.dll")}
