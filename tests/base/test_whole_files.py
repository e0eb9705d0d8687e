"""Whole files: what replaces a file, what stays as it was, and what is left after an error."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from priori.base.errors import OptionError
from priori.base.whole_files import check_writable, whole_file, write_whole


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_appears_at_the_end(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a.txt") as temporary:
        assert temporary.parent == tmp_path
        assert not (tmp_path / "a.txt").exists()
        temporary.write_bytes(b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert _names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [KeyError("x"), KeyboardInterrupt(), SystemExit(3), BrokenPipeError()])
def test_an_error_inside_goes_on_and_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    (tmp_path / "a.txt").write_text("old")

    def fail() -> None:
        with whole_file(tmp_path / "a.txt") as temporary:
            temporary.write_text("half of")
            raise error

    with pytest.raises(type(error)) as raised:
        fail()
    assert raised.value is error
    assert (tmp_path / "a.txt").read_text() == "old"
    assert _names(tmp_path) == ["a.txt"]


def test_what_the_system_refuses_is_said_of_the_file(tmp_path: Path) -> None:
    with (
        pytest.raises(OptionError, match=r"^cannot write .*/a\.txt: No space left on device$"),
        whole_file(tmp_path / "a.txt"),
    ):
        raise OSError(28, "No space left on device")
    assert _names(tmp_path) == []
    with pytest.raises(OptionError, match=r"^cannot write .*: it is a directory; give a file name$"):
        write_whole(tmp_path, "x")
    with pytest.raises(OptionError, match=r"there is no directory .*/no; make it first"):
        write_whole(tmp_path / "no" / "a.txt", "x")
    with pytest.raises(OptionError, match="cannot hold a NUL character"):
        write_whole("a\0b", "x")
    with pytest.raises(OptionError, match="File name too long"):
        write_whole(tmp_path / ("a" * 300), "x")


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert _mode(tmp_path / "a.txt") == 0o666 & ~mask


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o755, 0o666])
def test_a_file_keeps_its_rights(tmp_path: Path, mode: int) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "a.txt").chmod(mode)
    with whole_file(tmp_path / "a.txt") as temporary:
        assert _mode(temporary) == 0o600  # nobody else reads what may be private
        temporary.write_text("new")
    assert (_mode(tmp_path / "a.txt"), (tmp_path / "a.txt").read_text()) == (mode, "new")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    os.chown(tmp_path / "a.txt", 1234, 2345)
    write_whole(tmp_path / "a.txt", "new")
    assert ((tmp_path / "a.txt").stat().st_uid, (tmp_path / "a.txt").stat().st_gid) == (1234, 2345)


def test_a_file_that_must_not_be_changed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: os.path.isdir(path))  # the superuser may do everything
    with pytest.raises(OptionError, match="must not be changed"):
        write_whole(tmp_path / "a.txt", "new")
    monkeypatch.setattr(os, "access", lambda path, mode: not os.path.isdir(path))
    with pytest.raises(OptionError, match="Permission denied in its directory"):
        write_whole(tmp_path / "b.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "old"
    assert _names(tmp_path) == ["a.txt"]


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("there/a.txt")
    (tmp_path / "new.txt").symlink_to("there/new.txt")
    for name in ("link.txt", "new.txt"):
        with whole_file(tmp_path / name) as temporary:
            assert temporary.parent == tmp_path / "there"
            temporary.write_text("new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_text() == "new"
    assert _names(tmp_path / "there") == ["a.txt", "new.txt"]
    (tmp_path / "nowhere.txt").symlink_to("no/a.txt")
    with pytest.raises(OptionError, match="there is no directory"):
        write_whole(tmp_path / "nowhere.txt", "x")


@pytest.mark.parametrize("through", ["write_whole", "whole_file"])
def test_a_pipe_is_written_to(tmp_path: Path, through: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    if through == "write_whole":
        write_whole(tmp_path / "pipe", "all of it")
    else:
        with whole_file(tmp_path / "pipe") as temporary:
            temporary.write_text("all of it")
        assert not temporary.exists()
    reader.join()
    assert heard == [b"all of it"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert _names(tmp_path) == ["pipe"]


def test_devices_are_written_to() -> None:
    write_whole("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OptionError, match=r"^cannot write /dev/full: No space left on device$"):
        write_whole("/dev/full", "x")


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_name(tmp_path: Path, name: str) -> None:
    """Also where it is a regular file: what was written to it before stays."""
    code = f"from priori.base.whole_files import write_whole; print('a', flush=True); write_whole('{name}', 'b')"
    with (tmp_path / "out").open("w") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (tmp_path / "out").read_text() == "a\nb"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert piped.stdout == "a\nb"


def test_what_is_there_is_told(tmp_path: Path) -> None:
    assert check_writable(tmp_path / "a.txt") is None
    (tmp_path / "a.txt").write_text("12345")
    old = check_writable(tmp_path / "a.txt")
    assert old is not None
    assert old.st_size == 5


def test_texts_that_are_no_utf8(tmp_path: Path) -> None:
    write_whole(tmp_path / "a\udcff.txt", "é \udcff")
    assert (tmp_path / "a\udcff.txt").read_bytes() == "é \\udcff".encode()
