"""Long work says that it goes on."""

from setsearch.cli import progress


def test_indexing_tells_that_contexts_are_derived(run, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "STEP_OF_LINES", 0.001)
    for number in range(40):
        words = " ".join(f"the cat{n % 7} sat on mat{n % 5} {number}." for n in range(200))
        (tmp_path / f"{number}.txt").write_text(words)
    code, _, told = run("index", "a.db", ".", "--contexts")
    assert code == 0 and "deriving contexts of words for 0 s" in told.splitlines()


def test_what_is_quick_tells_nothing(capsys):
    with progress.tell_time("nothing"):
        pass
    assert capsys.readouterr() == ("", "")
