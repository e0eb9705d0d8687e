"""The private directory: nothing stays, whoever ends whom."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from priori.app.uploads import LOCK, PREFIX, STARTING, Storage, sweep


def test_it_is_private_and_leaves_nothing(tmp_path):
    storage = Storage(tmp_path)
    folder = storage.new_folder()
    (folder / "file").write_text("x")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert storage.root.stat().st_mode & 0o777 == 0o700
    storage.close()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_server_left_is_swept_and_what_a_living_one_has_is_not(tmp_path):
    code = (
        "import sys,time\nfrom priori.app.uploads import Storage\n"
        "storage = Storage(sys.argv[1])\n(storage.new_folder() / 'scores').write_text('secret')\n"
        "print(storage.root, flush=True)\ntime.sleep(100)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        root = Path(process.stdout.readline().strip())
        assert sweep(tmp_path) == 0
        assert (root / LOCK).exists()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert list(root.rglob("scores"))
    second = Storage(tmp_path)
    assert second.swept == 1
    assert not root.exists()
    second.close()


def test_the_sweep_leaves_alone_what_is_not_certainly_ours(tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / LOCK).write_text("held\n")
    (tmp_path / f"{PREFIX}link").symlink_to(victim)
    starting = tmp_path / f"{PREFIX}starting"
    starting.mkdir()
    unsigned = tmp_path / f"{PREFIX}unsigned"
    unsigned.mkdir()
    (unsigned / LOCK).touch()
    (tmp_path / f"{PREFIX}file").touch()
    other = tmp_path / "something-else"
    other.mkdir()
    assert sweep(tmp_path) == 0
    assert victim.exists()
    assert starting.exists()
    assert unsigned.exists()
    assert other.exists()
    past = time.time() - STARTING - 1
    os.utime(starting, (past, past))
    assert sweep(tmp_path) == 1
    assert not starting.exists()


def test_links_inside_are_removed_but_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep me")
    storage = Storage(tmp_path)
    (storage.new_folder() / "link").symlink_to(precious)
    storage.close()
    assert (precious / "file").read_text() == "keep me"
