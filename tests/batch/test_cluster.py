"""Ray on this machine, as a cluster of two nodes: the tree of bytes of `serial`, whoever is lost."""

import pytest

from tests.batch import runs

ray = pytest.importorskip("ray", reason="needs Ray: pip install 'gpu-collide[ray]'")
pytest.importorskip("pyarrow", reason="batch runs write Parquet: pip install 'gpu-collide[batch]'")
pytestmark = [pytest.mark.backends("cpu"), pytest.mark.cluster]

MOMENTS = ("reading", "colliding", "marking")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    inputs = runs.make(folder / "in", 6)
    runs.write(inputs / "long.npz", runs.walk(11, frames=300))
    runs.write(inputs / "lethal.npz", runs.walk(12))
    runs.run(inputs, folder / "out")
    return inputs, runs.tree(folder / "out")


@pytest.fixture
def cluster(monkeypatch):
    """Function that starts two nodes beside a head that computes nothing, with a fault in their processes."""
    from ray.cluster_utils import Cluster

    started = []

    def start(fault=None, flag=None, **has):
        for name, value in runs.faulty(fault, flag).items():
            monkeypatch.setenv(name, value)
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        started.append(cluster)
        nodes = [cluster.add_node(num_cpus=1, **has) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False)
        cluster.wait_for_nodes()
        return cluster, nodes

    yield start
    ray.shutdown()
    for cluster in started:
        cluster.shutdown()


def test_one_worker_and_two_on_two_nodes_and_one_of_these_removed(whole, tmp_path, cluster):
    inputs, expected = whole
    both, nodes = cluster()
    for workers in (1, 2):
        runs.run(inputs, tmp_path / f"out{workers}", engine="ray", workers=workers)
        assert runs.tree(tmp_path / f"out{workers}") == expected
    seen = []

    def lose_one(summary):
        if not seen:
            both.remove_node(nodes[0], allow_graceful=False)
        seen.append(summary)

    summary = runs.run(inputs, tmp_path / "lost", engine="ray", progress=lose_one)
    assert len(seen) == summary.items and summary.failed == 0
    assert runs.tree(tmp_path / "lost") == expected


def test_workers_killed_at_three_moments_cost_a_second_try(whole, tmp_path, cluster):
    inputs, expected = whole
    cluster(",".join(MOMENTS), tmp_path / "flag")
    summary = runs.run(inputs, tmp_path / "out", engine="ray")
    assert sorted(path.suffix[1:] for path in tmp_path.glob("flag.*")) == sorted(MOMENTS)
    assert summary.failed == 0 and runs.tree(tmp_path / "out") == expected


def test_where_there_are_gpus_an_actor_has_each_and_one_that_dies_is_replaced(whole, tmp_path, cluster):
    """Ray is told of a GPU on each node; what computes there is `cpu` all the same."""
    inputs, expected = whole
    cluster("colliding", tmp_path / "flag", num_gpus=1)
    summary = runs.run(inputs, tmp_path / "out", engine="ray", backend="auto")
    assert (tmp_path / "flag.colliding").exists() and summary.failed == 0
    assert runs.tree(tmp_path / "out") == expected


def test_a_lethal_recording_is_a_row_and_a_cancelled_run_goes_on(whole, tmp_path, cluster):
    inputs, _ = whole
    cluster("lethal")

    def cancel(summary):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.run(inputs, tmp_path / "out", engine="ray", progress=cancel)
    summary = runs.run(inputs, tmp_path / "out", engine="ray", resume=True)
    assert summary.failed == 1 and summary.recordings_done == 8
    (row,) = runs.rows_of(tmp_path / "out", "errors").to_pylist()
    assert (row["recording"], row["kind"]) == ("lethal.npz", "WorkerDied")
    names = [f"{name}.npz" for name in ("long", *(f"r{k}" for k in range(6)))]
    runs.same_rows(runs.rows_of(tmp_path / "out", "contacts"), runs.loop(inputs, "contacts", names))
