"""Temporary files: gone when done, when the process ends, and when it is told to end; a full disk is one line."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from priori import InputError, OptionError
from priori.base.temporary import discard, keep_temporary, remove_temporary, temporary_file, temporary_folder


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_a_file_is_there_while_it_is_used(tmp_path: Path) -> None:
    with temporary_file() as (file, path):
        file.write(b"some")
        file.close()
        assert path.parent == tmp_path
        assert path.read_bytes() == b"some"
        assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyError), temporary_file():
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_whatever_is_in_use_goes_at_once(tmp_path: Path) -> None:
    folder = Path(temporary_folder())
    (folder / "inside").write_text("x")
    plain = tmp_path / "plain"
    plain.write_text("x")
    keep_temporary(str(plain))
    beside = tmp_path / "beside"
    beside.write_text("x")
    remove_temporary()
    assert list(tmp_path.iterdir()) == [beside]
    discard(str(folder))  # a second time does no harm


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes of this kind there")
def test_a_fork_leaves_the_files_of_its_parent(tmp_path: Path) -> None:
    with temporary_file() as (_, path):
        child = os.fork()
        if not child:
            remove_temporary()
            os._exit(0)
        os.waitpid(child, 0)
        assert path.exists()


def test_the_end_of_the_process_is_the_end_of_its_files(tmp_path: Path) -> None:
    program = (
        "from priori.base.temporary import temporary_folder; import sys; temporary_folder(sys.argv[1]); sys.exit(143)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert ended.returncode == 143
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^cannot put temporary files into .*No space left.*TMPDIR"), temporary_file():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(OSError, match="Is a directory"), temporary_file():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OptionError, match=r"cannot put temporary files into .*nowhere: No such file"):
        temporary_folder(tmp_path / "nowhere")
