"""What others offer for "more like these", each on the same documents and the same seeds.

Only the first two compute what setsearch computes, the exact score of every item. The others rank by something else:
what each computes is said in its docstring, and shown with its figures.
"""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from corpora import Collection
from scipy.sparse import csr_array, csr_matrix

Query = Callable[[list[int]], Any]
Texts = list[tuple[str, str]]
TERMS = 25  # terms that the selective ones take of a seed, or of a set

os.environ.setdefault("TQDM_DISABLE", "1")


def binary_matrix(collection: Collection) -> csr_array:
    """Documents x terms, ones."""
    document = np.repeat(np.arange(len(collection.starts) - 1), np.diff(collection.starts))
    shape = (len(collection.starts) - 1, int(collection.words.max()) + 1)
    matrix = csr_array((np.ones(len(document)), (document, collection.words)), shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def best_of(scores: Any, without: list[int], k: int = 10) -> list[int]:
    scores[without] = -np.inf
    best = np.argpartition(scores, -k)[-k:]
    ranked: list[int] = best[np.argsort(-scores[best])].tolist()
    return ranked


def full_matrix(collection: Collection, texts: Texts, folder: Path, strength: float = 2.0) -> Query:
    """exact Bayesian Sets: the paper's one product of the whole scipy CSR matrix with q (equation 15)"""
    matrix = binary_matrix(collection)
    mean = np.asarray(matrix.sum(axis=0)).ravel() / matrix.shape[0]
    used = (mean > 0) & (mean < 1)
    alpha, beta = strength * mean, strength * (1 - mean)

    def query(seeds: list[int]) -> list[int]:
        s, n = np.asarray(matrix[seeds].sum(axis=0)).ravel(), len(seeds)
        with np.errstate(divide="ignore", invalid="ignore"):
            q = np.log((alpha + s) / alpha) + np.log(beta / (beta + n - s))
        return best_of(matrix @ np.where(used, q, 0), seeds)

    return query


def bayessets(collection: Collection, texts: Texts, folder: Path) -> Query:
    """exact Bayesian Sets: the bayessets package, features of no item or of all left out for it"""
    from bayessets import BernoulliBayesianSet

    matrix = csr_matrix(binary_matrix(collection))
    df = np.asarray(matrix.sum(axis=0)).ravel()
    model = BernoulliBayesianSet(matrix[:, (df > 0) & (df < matrix.shape[0])])
    return lambda seeds: best_of(model.query(seeds), seeds)


def bm25s(collection: Collection, texts: Texts, folder: Path) -> Query:
    """BM25 of the union of the seeds' words, scores of all documents, in memory, numba back-end"""
    import bm25s

    tokens = [text.split() for _, text in texts]
    index = bm25s.BM25(backend="numba")
    index.index(tokens, show_progress=False)

    def query(seeds: list[int]) -> Any:
        union = list(dict.fromkeys(word for seed in seeds for word in tokens[seed]))
        return index.retrieve([union], k=10 + len(seeds), show_progress=False, n_threads=1).documents

    return query


def tantivy(collection: Collection, texts: Texts, folder: Path) -> Query:
    """tantivy's more-like-this: the 25 best terms of each seed, an OR with BM25; addresses of the seeds known before"""
    import tantivy

    fields = tantivy.SchemaBuilder().add_text_field("id", tokenizer_name="raw", stored=True)
    schema = fields.add_text_field("text", stored=True, tokenizer_name="whitespace").build()
    (folder / "tantivy").mkdir()
    index = tantivy.Index(schema, path=str(folder / "tantivy"))
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for name, text in texts:
        writer.add_document(tantivy.Document(id=name, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    addresses: dict[int, Any] = {}

    def address(seed: int) -> Any:
        if seed not in addresses:
            found = searcher.search(tantivy.Query.term_query(schema, "id", f"d{seed}"), 1).hits
            addresses[seed] = found[0][1]
        return addresses[seed]

    def query(seeds: list[int]) -> Any:
        like = [
            (
                tantivy.Occur.Should,
                tantivy.Query.more_like_this_query(
                    address(seed), min_doc_frequency=1, min_term_frequency=1, max_query_terms=TERMS
                ),
            )
            for seed in seeds
        ]
        return searcher.search(tantivy.Query.boolean_query(like), 10 + len(seeds), count=False).hits

    return query


def lucene_and_java() -> tuple[Any, Any]:
    """Lucene's packages, from the file that LUCENE_JAR names, and Java's."""
    import jpype

    if not jpype.isJVMStarted():
        jpype.startJVM(classpath=[os.environ["LUCENE_JAR"]])
    return jpype.JPackage("org").apache.lucene, jpype.JPackage("java")


def lucene(collection: Collection, texts: Texts, folder: Path) -> Query:
    """Lucene's MoreLikeThis, by JPype: the 25 best terms of each seed, an OR with BM25; built with 2,000 queries"""
    api, java = lucene_and_java()
    place = api.store.FSDirectory.open(java.nio.file.Paths.get(str(folder / "lucene")))
    settings = api.index.IndexWriterConfig(api.analysis.core.WhitespaceAnalyzer())
    settings.setRAMBufferSizeMB(1024.0)  # one segment: documents are numbered in their order
    writer = api.index.IndexWriter(place, settings)
    kind = api.document.FieldType(api.document.TextField.TYPE_NOT_STORED)
    kind.setStoreTermVectors(True)
    for _, text in texts:
        document = api.document.Document()
        document.add(api.document.Field("text", text, kind))
        writer.addDocument(document)
    writer.forceMerge(1)
    writer.close()
    reader = api.index.DirectoryReader.open(place)
    searcher = api.search.IndexSearcher(reader)
    like = api.queries.mlt.MoreLikeThis(reader)
    like.setFieldNames(["text"])
    like.setMinTermFreq(1)
    like.setMinDocFreq(1)
    like.setMaxQueryTerms(TERMS)
    should = api.search.BooleanClause.Occur.SHOULD

    def query(seeds: list[int]) -> Any:
        several = api.search.BooleanQuery.Builder()
        for seed in seeds:
            several.add(like.like(seed), should)
        return [hit.doc for hit in searcher.search(several.build(), 10 + len(seeds)).scoreDocs]

    rng = np.random.default_rng(2)
    for number in range(2000):  # until Java has compiled what it needs
        query(rng.choice(len(texts), 1 + number % 10, replace=False).tolist())
    return query


def xapian(collection: Collection, texts: Texts, folder: Path) -> Query:
    """Xapian: 25 terms of the seeds as relevance set (ESet), an OR with BM25"""
    import xapian

    path = str(folder / "xapian")
    database = xapian.WritableDatabase(path, xapian.DB_CREATE)
    for _, text in texts:
        document = xapian.Document()
        for word in text.split():
            document.add_term(word)
        database.add_document(document)
    database.close()
    database = xapian.Database(path)
    enquire = xapian.Enquire(database)

    def query(seeds: list[int]) -> Any:
        relevant = xapian.RSet()
        for seed in seeds:
            relevant.add_document(seed + 1)
        enquire.set_query(xapian.Query.MatchAll)
        expansion = enquire.get_eset(TERMS, relevant)
        enquire.set_query(xapian.Query(xapian.Query.OP_OR, [item.term for item in expansion]))
        return [match.docid for match in enquire.get_mset(0, 10 + len(seeds))]

    return query


def sklearn(collection: Collection, texts: Texts, folder: Path) -> Query:
    """scikit-learn: cosine of tf-idf with the mean of the seeds, all documents, in memory"""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import linear_kernel

    matrix = TfidfVectorizer(token_pattern=r"\w+").fit_transform(text for _, text in texts)
    return lambda seeds: best_of(linear_kernel(csr_matrix(matrix[seeds].mean(axis=0)), matrix).ravel(), seeds)


def fts5(collection: Collection, texts: Texts, folder: Path) -> Query:
    """SQLite FTS5: OR of the union of the seeds' words, ordered by its bm25"""
    connection = sqlite3.connect(folder / "fts5.db")
    connection.execute("create virtual table t using fts5(text, content='')")
    connection.executemany(
        "insert into t (rowid, text) values (?, ?)", ((i, text) for i, (_, text) in enumerate(texts))
    )
    connection.commit()

    def query(seeds: list[int]) -> Any:
        union = dict.fromkeys(word for seed in seeds for word in texts[seed][1].split())
        words = " OR ".join('"' + word.replace('"', '""') + '"' for word in union)
        return connection.execute(
            "select rowid from t where t match ? order by rank limit ?", (words, 10 + len(seeds))
        ).fetchall()

    return query


def whoosh(collection: Collection, texts: Texts, folder: Path) -> Query:
    """Whoosh: the 25 key terms of the seeds, an OR with BM25F"""
    from whoosh import fields, index, query
    from whoosh.analysis import SpaceSeparatedTokenizer

    (folder / "whoosh").mkdir()
    schema = fields.Schema(id=fields.ID(stored=True), text=fields.TEXT(vector=True, analyzer=SpaceSeparatedTokenizer()))
    made = index.create_in(folder / "whoosh", schema)
    writer = made.writer(limitmb=512)
    for name, text in texts:
        writer.add_document(id=name, text=text)
    writer.commit()
    searcher = made.searcher()

    def ask(seeds: list[int]) -> Any:
        terms = searcher.key_terms(seeds, "text", numterms=TERMS)
        best = searcher.search(query.Or([query.Term("text", word) for word, _ in terms]), limit=10 + len(seeds))
        return [hit.docnum for hit in best]

    return ask


PEERS: dict[str, Callable[[Collection, Texts, Path], Query]] = {
    "full sparse mat-vec": full_matrix,
    "bayessets": bayessets,
    "bm25s, numba": bm25s,
    "tantivy": tantivy,
    "Xapian": xapian,
    "scikit-learn": sklearn,
    "SQLite FTS5": fts5,
    "Whoosh": whoosh,
}
if "LUCENE_JAR" in os.environ:
    PEERS["Lucene"] = lucene
