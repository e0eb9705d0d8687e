"""Jobs: from the files to the report, for their own visitor only, and gone afterwards."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import time

import pytest
from app_serving import DEV, PATIENCE, STUCK, TEST, alive, gone, worker_that
from click.testing import CliRunner

from priori import examples
from priori.cli import cli

HTML = "<script>alert(1)</script>\"'&😀"


def _processes(status):
    return [int(number) for number in status["stage"].split()]


@pytest.fixture
def stuck(serve):
    """A server, a visitor, and a job that computes for ever, with the numbers of its processes."""
    served = serve(STUCK)
    visitor = served.visitor()
    job = visitor.send().json()["job"]
    processes = _processes(visitor.wait(job, lambda status: bool(status["stage"])))
    assert all(map(alive, processes))
    return served, visitor, job, processes


def test_from_files_to_the_report_and_again_with_another_setting(serve):
    served = serve()
    visitor = served.visitor()
    files = {"name-0": HTML, "dev-0": (f"{HTML}.csv", DEV), "test-0": ("test.csv", TEST)}
    answer = visitor.send(files=files)
    assert answer.status_code == 202
    job, address = answer.json()["job"], answer.json()["address"]
    status = visitor.wait(job)
    assert status["state"] == "done", status
    assert status["notes"]["test-0"] == "test.csv: CSV table, 4 positive and 4 negative trials"

    page = visitor.client.get(address)
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert visitor.key in page.text
    nonce = re.search(r"script-src 'self' 'nonce-([\w-]+)'", page.headers["content-security-policy"])[1]
    assert served.server.jobs.jobs[job].mark not in page.text
    for script in re.findall(r"<script[^>]*>", page.text):
        assert f'nonce="{nonce}"' in script or "src=" in script or "application/json" in script, script

    report = visitor.client.get(f"{address}/report.html")
    assert "attachment" in report.headers["content-disposition"]
    assert report.headers["content-security-policy"].startswith("sandbox")
    assert visitor.key not in report.text
    assert "<script>alert" not in report.text
    for form in ("page.html", "../owner.lock", "tmp", "report.pickle"):
        assert visitor.client.get(f"{address}/{form}").status_code in (404, 405)

    before = json.loads(visitor.client.get(f"{address}/report.json").text)
    assert before["settings"]["measure"] == "hter"
    rows = list(csv.DictReader(io.StringIO(visitor.client.get(f"{address}/report.csv").text)))
    assert {row["system"] for row in rows} == {HTML}

    again = visitor.send({"measure": "far", "name-0": "B"}, files={}, address=address)
    assert again.status_code == 202
    assert visitor.wait(job)["state"] == "done"
    after = json.loads(visitor.client.get(f"{address}/report.json").text)
    assert after["settings"]["measure"] == "far"
    assert len([path for path in served.files() if path.name == "page.html"]) == 1

    assert visitor.post(f"{address}/delete").status_code == 200
    assert not served.files()
    assert visitor.client.get(address).status_code == 404


def test_twenty_systems_have_the_page_of_many(serve):
    visitor = serve().visitor()
    files = {}
    for key in range(20):
        scores = "".join(f"{row % 2},{row % 2 + (row * (key + 3)) % 17 / 8}\n" for row in range(60))
        files |= {
            f"name-{key}": f"system {key}",
            f"dev-{key}": ("dev.csv", scores),
            f"test-{key}": ("test.csv", scores),
        }
    files = {
        name: value if isinstance(value, str) else (value[0], f"label,score\n{value[1]}")
        for name, value in files.items()
    }
    job = visitor.send({"bootstrap": "sample", "resamples": "100"}, files=files).json()["job"]
    assert visitor.wait(job)["state"] == "done"
    page = visitor.client.get(f"/jobs/{job}").text
    assert 'id="find"' in page
    assert 'id="ranking-title">All' in page
    assert "and 15 more" in visitor.client.get("/").text


def test_an_example_needs_no_files_and_its_command_makes_the_same_report(serve, tmp_path, monkeypatch):
    visitor = serve().visitor()
    job = visitor.send({"example": "cancer", "task": "diagnosis"}, files={"name-0": ""}).json()["job"]
    assert visitor.wait(job)["state"] == "done"
    found = json.loads(visitor.client.get(f"/jobs/{job}/report.json").text)
    assert len(found["systems"]) == 3

    monkeypatch.chdir(tmp_path)
    first, _, second = found["command"].partition(" && ")
    assert first == "priori demo cancer --output demo"
    examples.write("cancer", "demo")  # among other things, what that command does
    words = shlex.split(second.replace("-o report.html", "--format json"))
    again = json.loads(CliRunner().invoke(cli, words[1:], catch_exceptions=False).stdout)
    assert again["settings"] == found["settings"]
    numbers = [[(one["name"], one["value"]) for one in report["systems"]] for report in (found, again)]
    assert numbers[0] == numbers[1]


def test_without_a_script_there_are_pages_all_the_way(serve):
    visitor = serve().visitor()
    parts = [
        ("csrf", (None, visitor.key)),
        ("bootstrap", (None, "none")),
        ("name-0", (None, "A")),
        ("dev-0", ("dev.csv", DEV)),
        ("test-0", ("test.csv", b"junk\n")),
    ]
    answer = visitor.client.post("/jobs", files=parts, follow_redirects=False)
    assert answer.status_code == 303
    address = answer.headers["location"]
    assert 'http-equiv="refresh"' in visitor.client.get(address).text
    visitor.wait(address.rpartition("/")[2])
    page = visitor.client.get(address).text
    assert re.search(r'id="app-error-test-0" role="alert">test.csv', page)
    assert "is here; choose a file to replace it" in page
    mended = [*parts[:3], ("dev-0", ("", b"")), ("test-0", ("test.csv", TEST))]
    assert visitor.client.post(address, files=mended, follow_redirects=False).status_code == 303
    assert visitor.wait(address.rpartition("/")[2])["state"] == "done"
    gone_answer = visitor.client.post(f"{address}/delete", files=parts[:1], follow_redirects=False)
    assert (gone_answer.status_code, gone_answer.headers["location"]) == (303, "/")


def test_another_visitor_does_not_find_the_job(stuck):
    served, owner, job, _ = stuck
    other = served.visitor()
    for address in ("", "/status", "/report.html", "/report.json", "/report.csv"):
        assert other.client.get(f"/jobs/{job}{address}").status_code == 404
    for address in ("", "/cancel", "/delete"):
        assert other.post(f"/jobs/{job}{address}").status_code == 404
    assert other.send(address=f"/jobs/{job}").status_code == 404
    assert job not in other.client.get("/").text
    assert job in owner.client.get("/").text
    assert owner.status(job)["state"] == "running"


def test_job_names_cannot_be_guessed(stuck):
    _, visitor, job, _ = stuck
    assert len(job) >= 32
    for guess in (job[:-1], job.lower(), job + "x", "..", "%2e%2e"):
        if guess != job:
            assert visitor.client.get(f"/jobs/{guess}/status").status_code == 404


def test_cancelling_ends_the_process_and_its_children(stuck):
    served, visitor, job, processes = stuck
    assert any(path.name == "scratch" for path in served.files())
    answer = visitor.post(f"/jobs/{job}/cancel")
    assert answer.json()["state"] == "cancelled"
    assert gone(*processes)
    assert not any(path.name == "scratch" for path in served.files())
    assert len(served.files()) == 2  # the two score files, for computing again
    assert not any(job.active for job in served.server.jobs.jobs.values())


def test_cancelling_needs_the_key(stuck):
    _, visitor, job, processes = stuck
    assert visitor.client.post(f"/jobs/{job}/cancel").status_code == 415
    visitor.key = "0" * 64
    assert visitor.post(f"/jobs/{job}/cancel").status_code == 403
    assert visitor.post(f"/jobs/{job}/delete").status_code == 403
    assert all(map(alive, processes))


def test_a_waiting_job_can_be_cancelled_and_the_next_one_begins(serve):
    served = serve(STUCK, jobs=1)
    visitor = served.visitor()
    first, second, third = (visitor.send().json()["job"] for _ in range(3))
    assert visitor.post(f"/jobs/{second}/cancel").json()["state"] == "cancelled"
    assert visitor.status(third)["position"] == 1
    visitor.wait(first, lambda status: bool(status["stage"]))
    visitor.post(f"/jobs/{first}/cancel")
    visitor.wait(third, lambda status: status["state"] == "running")


def test_deleting_a_running_job_leaves_nothing(stuck):
    served, visitor, job, processes = stuck
    assert visitor.post(f"/jobs/{job}/delete").status_code == 200
    assert gone(*processes)
    assert not served.files()


def test_a_running_job_takes_no_changes(stuck):
    _, visitor, job, _ = stuck
    assert visitor.send(address=f"/jobs/{job}").status_code == 409


def test_a_job_that_takes_too_long_is_ended(serve):
    served = serve(STUCK, seconds=0.5)
    visitor = served.visitor()
    job = visitor.send().json()["job"]
    processes: list[int] = []
    status = visitor.wait(job, lambda status: bool(processes.extend(_processes(status))) or status["state"] == "failed")
    assert "stopped after 0.5 seconds, which is the limit" in status["errors"]["form"]
    assert gone(*processes)


def test_a_killed_job_leaves_nothing_and_is_told(serve):
    served = serve(
        worker_that("open('tmp/x', 'w').write('x'); open('page.html', 'w').write('x'); os.kill(os.getpid(), 9)")
    )
    visitor = served.visitor()
    job = visitor.send().json()["job"]
    status = visitor.wait(job)
    assert status["state"] == "failed"
    assert "ended unexpectedly" in status["errors"]["form"]
    assert len(served.files()) == 2
    assert visitor.client.get(f"/jobs/{job}/report.html").status_code == 404


@pytest.mark.parametrize(
    "code",
    [
        "print('no json', flush=True); time.sleep(300)",
        "print('[1]', flush=True); time.sleep(300)",
        "print('x' * 3_000_000, flush=True); time.sleep(300)",
        "print(json.dumps({'errors': 7}), flush=True); time.sleep(300)",
        "sys.exit(0)",
        "print(json.dumps({'stage': 's', 'done': 'x'}), flush=True); time.sleep(300)",
    ],
)
def test_a_process_that_talks_nonsense_is_ended(serve, code):
    visitor = serve(worker_that(code)).visitor()
    assert visitor.wait(visitor.send().json()["job"])["state"] == "failed"


def test_a_job_that_fills_the_disk_is_ended(serve):
    code = "f = open('tmp/x', 'wb')\nwhile True: f.write(bytes(1000)); f.flush(); time.sleep(0.001)"
    served = serve(worker_that(code), unpacked=50_000)
    visitor = served.visitor()
    status = visitor.wait(visitor.send().json()["job"])
    assert status["state"] == "failed"
    assert len(served.files()) == 2


def test_files_and_results_are_forgotten_after_a_while(serve):
    served = serve(worker_that("print(json.dumps({'errors': {'form': 'no'}}), flush=True)"), keep=0.2)
    visitor = served.visitor()
    job = visitor.send().json()["job"]
    end = time.monotonic() + PATIENCE
    while served.files() and time.monotonic() < end:
        time.sleep(0.05)
    assert not served.files()
    assert visitor.client.get(f"/jobs/{job}").status_code == 404


def test_the_oldest_analyses_of_a_visitor_make_way_for_new_ones(serve):
    served = serve(worker_that("print(json.dumps({'errors': {'form': 'no'}}), flush=True)"), kept_per_visitor=2)
    visitor, other = served.visitor(), served.visitor()
    theirs = other.send().json()["job"]
    jobs = []
    for _ in range(4):
        jobs.append(visitor.send().json()["job"])
        visitor.wait(jobs[-1])
    assert [visitor.client.get(f"/jobs/{job}/status").status_code for job in jobs] == [404, 404, 200, 200]
    assert other.status(theirs)


def test_failed_uploads_make_way_before_a_result(serve):
    done = "{'finished': True} if 'good' in json.dumps(order) else {'errors': {'form': 'no'}}"
    served = serve(worker_that(f"print(json.dumps({done}), flush=True)"), kept_per_visitor=3)
    visitor = served.visitor()
    jobs = []
    for name in ("good", "bad", "bad", "bad"):
        files = {"name-0": name, "dev-0": ("d", DEV), "test-0": ("t", TEST)}
        jobs.append(visitor.send(files=files).json()["job"])
        visitor.wait(jobs[-1])
    codes = [visitor.client.get(f"/jobs/{job}/status").status_code for job in jobs]
    assert codes == [200, 404, 200, 200]


def test_when_as_many_are_kept_as_can_be_the_one_idle_longest_makes_way_for_anybody(serve):
    served = serve(worker_that("print(json.dumps({'errors': {'form': 'no'}}), flush=True)"), kept=3)
    visitors = [served.visitor() for _ in range(4)]
    jobs = []
    for visitor in visitors[:3]:
        jobs.append(visitor.send().json()["job"])
        visitor.wait(jobs[-1])
    assert visitors[0].status(jobs[0])  # asked for again, so the second is the one idle longest
    answer = visitors[3].send()
    assert answer.status_code == 202
    visitors[3].wait(answer.json()["job"])
    states = [
        visitor.client.get(f"/jobs/{job}/status").status_code for visitor, job in zip(visitors, jobs, strict=False)
    ]
    assert states == [200, 404, 200]
    assert len(served.files()) == 2 * 3


def test_when_the_room_is_used_up_idle_analyses_make_way_but_not_the_one_computed_again(serve):
    fails = worker_that("print(json.dumps({'errors': {'form': 'no'}}), flush=True)")
    served = serve(fails, stored=6_000, upload=4_000)
    padding = b"\n" * 1_000
    files = {"name-0": "A", "dev-0": ("d", DEV + padding), "test-0": ("t", TEST + padding)}
    first, second = served.visitor(), served.visitor()
    sent = first.send(files=files).json()
    first.wait(sent["job"])
    theirs = second.send(files=files).json()["job"]
    second.wait(theirs)
    again = first.send(files=files, address=sent["address"])
    assert again.status_code == 202
    first.wait(sent["job"])
    assert second.client.get(f"/jobs/{theirs}/status").status_code == 404
    assert served.server.jobs.reserved == 0


def test_a_removed_system_takes_its_files_along(serve):
    served = serve(worker_that("print(json.dumps({'errors': {'form': 'no'}}), flush=True)"))
    visitor = served.visitor()
    files = {"name-0": "A", "dev-0": ("d", DEV), "test-0": ("t", TEST)}
    files |= {"name-1": "B", "dev-1": ("d", DEV), "test-1": ("t", TEST)}
    answer = visitor.send(files=files).json()
    visitor.wait(answer["job"])
    assert len(served.files()) == 4
    visitor.send({"name-0": "A"}, files={"dev-0": ("new", DEV)}, address=answer["address"])
    visitor.wait(answer["job"])
    assert len(served.files()) == 2


def test_stopping_the_server_ends_its_jobs_and_removes_everything(tmp_path):
    from contextlib import ExitStack

    from app_serving import Served

    from priori.app.server import create_app

    with ExitStack() as stack:
        served = Served(create_app(parent=tmp_path, worker=STUCK), stack)
        visitor = served.visitor()
        jobs = [visitor.send().json()["job"] for _ in range(3)]
        processes = _processes(visitor.wait(jobs[0], lambda status: bool(status["stage"])))
        processes += _processes(visitor.wait(jobs[1], lambda status: bool(status["stage"])))
    assert gone(*processes)
    assert not list(tmp_path.iterdir())


def test_what_is_logged_holds_nothing_of_the_files(serve, caplog):
    caplog.set_level("DEBUG")
    visitor = serve().visitor()
    files = {
        "name-0": "secret-name",
        "dev-0": ("secret-file.csv", b"label,score\n1,secret-score\n"),
        "test-0": ("t", TEST),
    }
    visitor.wait(visitor.send(files=files).json()["job"])
    logged = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("priori"))
    assert "analysis failed" in logged
    assert "secret" not in logged
