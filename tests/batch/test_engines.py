"""Every engine, with one worker and two: the tree of bytes of `serial`."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from gpu_collide.batch.engines import processes
from gpu_collide.errors import BackendUnavailableError, MissingExtraError
from tests.batch import runs

pytest.importorskip("pyarrow", reason="batch runs write Parquet: pip install 'gpu-collide[batch]'")
pytestmark = pytest.mark.backends("cpu")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines")
    inputs = runs.make(folder / "in", 6)
    runs.write(inputs / "long.npz", runs.walk(11, frames=300))
    (inputs / "bad.npz").write_bytes(b"PK")
    runs.run(inputs, folder / "out")
    return inputs, runs.tree(folder / "out")


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_write_the_tree_of_serial(whole, tmp_path, workers):
    inputs, expected = whole
    summary = runs.run(inputs, tmp_path / "out", engine="processes", workers=workers, threads_per_worker=1)
    assert runs.tree(tmp_path / "out") == expected and summary.failed == 1


def test_what_the_machine_of_a_worker_lacks_ends_the_run_and_is_no_row(whole, tmp_path, monkeypatch):
    inputs, _ = whole
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.delenv("GPU_COLLIDE_CUDA", raising=False)
    with pytest.raises(BackendUnavailableError):
        runs.run(inputs, tmp_path / "out", engine="processes", workers=1, retries=0, backend="cuda")
    assert not list((tmp_path / "out" / "done").iterdir())
    travelled = pickle.loads(pickle.dumps(MissingExtraError("reading .zarr recordings", "zarr", "data")))
    assert (travelled.package, travelled.extra) == ("zarr", "data") and "gpu-collide[data]" in str(travelled)


def test_each_process_has_a_gpu_of_its_own(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-17")
    engine = processes.open(None, None, None, "cuda")
    assert engine.slots == 2 and engine._cards == ["3", "GPU-17"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert processes.open(None, None, None, "auto")._cards == []  # a GPU that nothing here can use
    assert processes.open(None, None, None, "cpu")._cards == []
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setattr(processes, "gpus", lambda: 4)
    assert processes.open(None, None, None, "cuda").slots == 4


def test_workers_leave_with_the_process_that_asked(whole, tmp_path):
    inputs, expected = whole
    told = {"inputs": str(inputs), "out": str(tmp_path / "out"), "limit": None}
    told["options"] = {"engine": "processes", "workers": 2}
    run = subprocess.Popen([sys.executable, "-m", "tests.batch.one_run", json.dumps(told)], cwd=runs.ROOT,
                           env=runs.ENVIRONMENT, start_new_session=True)  # fmt: skip
    while not (tmp_path / "out" / "done").exists() or not os.listdir(tmp_path / "out" / "done"):
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    until = time.monotonic() + 20
    while True:
        try:
            os.killpg(run.pid, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < until, "workers outlived the process that asked"
        time.sleep(0.05)
    runs.run(inputs, tmp_path / "out", resume=True)
    assert runs.tree(tmp_path / "out") == expected
