"""Spark as a cluster, small: a master and two workers on this machine, one killed while it works; Spark Connect.

`make test-cluster` runs this, some minutes; other test runs leave it out.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import priori
from engine_frames import nothing_loaded, population, same_columns

pytestmark = [
    pytest.mark.skipif("PRIORI_CLUSTER" not in os.environ, reason="make test-cluster runs it"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore"),
]

FILES = 8


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


class Daemon:
    """A master, a worker or a server: a process with children of its own, which end with it."""

    def __init__(self, folder: Path, name: str, *arguments: str, memory: str = "256m") -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        self.log = folder / f"{name}.log"
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": memory,
            "PYSPARK_PYTHON": sys.executable,
        }
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [home / "bin" / "spark-class", *arguments],
                stdout=log,
                stderr=log,
                env=environment,
                cwd=folder,
                start_new_session=True,
            )

    def wait_for(self, words: str, seconds: float = 180) -> None:
        end = time.monotonic() + seconds
        while words not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.2)

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Cluster:
    """A master and its workers."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.master = Daemon(
            folder,
            "master",
            "org.apache.spark.deploy.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--webui-port",
            "0",
        )
        self.master.wait_for("Starting Spark master")
        self.workers = [self._worker(folder, number) for number in range(2)]
        for worker in self.workers:
            worker.wait_for("Successfully registered with master")

    def _worker(self, folder: Path, number: int) -> Daemon:
        return Daemon(
            folder,
            f"worker-{number}",
            "org.apache.spark.deploy.worker.Worker",
            "--cores",
            "1",
            "--memory",
            "600m",
            "--webui-port",
            "0",
            "--work-dir",
            str(folder / f"work-{number}"),
            f"spark://127.0.0.1:{self.port}",
        )

    def stop(self) -> None:
        for daemon in (*self.workers, self.master):
            daemon.kill()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    running = Cluster(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def session(cluster: Cluster, tmp_path: Path) -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    (tmp_path / "events").mkdir()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.sql.shuffle.partitions": "4",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{tmp_path / 'events'}",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.sql.files.maxPartitionBytes": "100k",
    }
    builder = sql.SparkSession.builder.master(f"spark://127.0.0.1:{cluster.port}").appName("priori")
    for name, value in settings.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    yield found
    found.stop()


def test_a_worker_that_is_killed_changes_no_number(cluster: Cluster, session: Any, tmp_path: Path) -> None:
    frames = {role: population(seed, size=40_000) for role, seed in (("dev", 1), ("test", 2))}
    for role, frame in frames.items():
        (tmp_path / role).mkdir()
        for part in range(FILES):
            frame[part::FILES].write_parquet(tmp_path / role / f"{part}.parquet")
    sets = [priori.scan(tmp_path / role, engine="spark") for role in frames]
    tracker, killed = session.sparkContext.statusTracker(), list[int]()

    def kill_in_the_middle() -> None:
        while not killed:
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if stage > 3 and info is not None and 0 < info.numCompletedTasks < info.numTasks:
                    cluster.workers[0].kill()
                    killed.append(stage)
                    return
            time.sleep(0.01)

    Thread(target=kill_in_the_middle, daemon=True).start()
    curve = priori.epc(*sets, points=5)
    band = curve.band(bootstrap="user", n_resamples=50)
    assert killed
    same_columns(curve, priori.epc(*(priori.Scores.from_frame(frame) for frame in frames.values()), points=5))
    counted = priori.epc(*(priori.scan(tmp_path / role, engine="duckdb", memory="1MB") for role in frames), points=5)
    same_columns(band, counted.band(bootstrap="user", n_resamples=50))
    session.stop()
    seen = summary(tmp_path / "events")
    print(json.dumps(seen))
    assert seen["executors lost"] >= 1


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a Spark Connect server; sessions are made there."""
    for name in ("grpc", "grpc_status", "google.rpc", "zstandard"):
        pytest.importorskip(name, reason="Spark Connect needs the dependency group cluster")
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    configured = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    server = Daemon(
        tmp_path,
        "connect",
        "org.apache.spark.deploy.SparkSubmit",
        "--master",
        "local[2]",
        *configured,
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
        "spark-internal",
        memory="1g",
    )
    server.wait_for("Spark Connect server started")
    address = f"sc://127.0.0.1:{port}"
    monkeypatch.setenv("SPARK_REMOTE", address)
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")  # pyspark keeps it for the process, once it has a session
    yield address
    from pyspark.sql import SparkSession

    SparkSession.builder.getOrCreate().stop()  # or it tries for minutes to tell the server that it ends
    server.kill()


@pytest.mark.usefixtures("remote")
def test_a_connect_session_gives_the_numbers_of_memory(tmp_path: Path) -> None:
    expected, found = [], []
    for quality in (1.5, 1.8):
        paths = [tmp_path / f"{role}-{quality}.parquet" for role in ("dev", "test")]
        for seed, path in enumerate(paths):
            population(seed, quality, size=2000).write_parquet(path)
        found.append(priori.epc(*(priori.scan(path, engine="spark") for path in paths), points=5))
        expected.append(priori.epc(*map(priori.read, paths), points=5))
    assert "connect" in type(found[0].test.engine.frame).__module__
    same_columns(found[0], expected[0])
    options: dict[str, Any] = {"bootstrap": "user", "n_resamples": 50}
    with nothing_loaded():
        same_columns(found[0].band(**options), expected[0].band(**options))
        compared = [priori.compare(*curves, claim="deployed", **options) for curves in (found, expected)]
    same_columns(*compared)
    np.testing.assert_array_equal(*(each.replicates for each in compared))


def summary(folder: Path) -> dict[str, int]:
    """Return what an event log tells: tasks, those that failed or ran again, executors lost, processor time."""
    (log,) = folder.iterdir()
    seen = Counter[str]()
    for line in log.read_text().splitlines():
        event = json.loads(line)
        kind = event["Event"]
        seen["executors"] += kind == "SparkListenerExecutorAdded"
        seen["executors lost"] += kind == "SparkListenerExecutorRemoved"
        seen["jobs"] += kind == "SparkListenerJobStart"
        if kind == "SparkListenerTaskEnd":
            seen["tasks"] += 1
            seen["tasks failed"] += event["Task End Reason"]["Reason"] != "Success"
            metrics = event.get("Task Metrics") or {}
            seen["processor, ms"] += metrics.get("Executor CPU Time", 0) // 10**6
            seen["starting, ms"] += metrics.get("Executor Deserialize Time", 0)
    return dict(seen)
