"""Files at an address give the numbers of the same files here; `make test-cluster` has the store, moto's S3."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import priori
from engine_frames import nothing_loaded, population, same_columns
from priori import InputError, OptionError, Table
from priori.cli import cli


def test_without_the_package_the_error_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(OptionError, match="pip install s3fs"):
        priori.scan("s3://bucket/dev.parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scores")


@pytest.fixture(scope="module")
def bucket(folder: Path) -> Iterator[str]:
    """A store on this machine with the development and test scores of two systems, as in the folder."""
    server = pytest.importorskip("moto.server", reason="the store is in the dependency group cluster")
    s3fs = pytest.importorskip("s3fs")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    keys = {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_DEFAULT_REGION": "us-east-1"}
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name, value in {**keys, "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none"}.items():
            monkeypatch.setenv(name, value)
        store = s3fs.S3FileSystem()
        store.mkdir("scores")
        for quality in (1.5, 1.8):
            for seed, role in enumerate(("dev", "test")):
                (folder / f"{role}-{quality}").mkdir()
                frame = population(seed, quality)
                for part in range(2):
                    path = f"{role}-{quality}/{part}.parquet"
                    frame[part::2].write_parquet(folder / path)
                    store.put(str(folder / path), f"scores/{path}")
        store.pipe("scores/text.csv", b"score,label\n1,1\n0,0\n")
        yield "s3://scores"
    running.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_an_address_gives_the_numbers_of_the_files(bucket: str, folder: Path) -> None:
    def curves(where: str, **how: str) -> list[priori.EPC]:
        sets = {
            (role, quality): priori.scan(f"{where}/{role}-{quality}/*.parquet", **how)  # type: ignore[arg-type]
            for role in ("dev", "test")
            for quality in (1.5, 1.8)
        }
        return [priori.epc(sets["dev", q], sets["test", q], points=5, name=str(q)) for q in (1.5, 1.8)]

    found, expected = curves(bucket, engine="duckdb"), curves(str(folder))
    assert isinstance(found[0].test, Table)
    with nothing_loaded():
        same_columns(found[0], expected[0])
        same_columns(*(each[0].band(bootstrap="user", n_resamples=50) for each in (found, expected)))
        same_columns(*(priori.compare(*each, claim="deployed", n_resamples=50) for each in (found, expected)))
    system = [f"{bucket}/dev-1.5", f"{bucket}/test-1.5/1.parquet"]
    in_memory = [priori.scan(system[0]), priori.scan(system[1], engine="memory")]
    assert all(isinstance(scores, priori.Scores) for scores in in_memory)
    asked = ["epc", "--system", "A", *system, "--alpha", "0.5", "--format", "csv"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    assert f"{priori.epc(*in_memory, alpha=[0.5]).value[0]}" in done.stdout


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_what_is_wrong_at_an_address_is_said(bucket: str, folder: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        priori.scan(f"{bucket}/other.parquet")
    with pytest.raises(OptionError, match="only Parquet files are read at an address"):
        priori.scan(f"{bucket}/text.csv")
    table = priori.scan(f"{bucket}/dev-1.5/0.parquet", engine="duckdb")
    import s3fs

    s3fs.S3FileSystem().put(str(folder / "dev-1.8" / "1.parquet"), "scores/dev-1.5/0.parquet")
    with pytest.raises(InputError, match="changed while they were read"):
        priori.epc(table, table, alpha=[0.2]).band(bootstrap="user", n_resamples=5)
