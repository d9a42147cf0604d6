"""Built kernels on disk: found again, safe between processes and from other users, never in the way."""

import errno
import os
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from gpu_collide.backends import cache, cpu, libraries, opencl
from gpu_collide.errors import BackendUnavailableError

BUILD = """
from gpu_collide.backends.cpu import CpuBackend
print(CpuBackend(threads=1).name)
"""


@pytest.fixture(scope="module", autouse=True)
def compiler():
    try:
        libraries.find_compiler()
    except BackendUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return tmp_path / "cache"


def count_compilations(monkeypatch):
    calls, real = [], libraries.compile_shared
    monkeypatch.setattr(libraries, "compile_shared", lambda *a: calls.append(a) or real(*a))
    return calls


def test_second_process_compiles_nothing(folder, monkeypatch):
    calls = count_compilations(monkeypatch)
    cpu.CpuBackend()
    built = sorted(folder.iterdir())
    assert sorted(p.suffix for p in built) in ([".json", ".so", ".so"], [".dll", ".dll", ".json"])
    assert len(calls) == 2
    cpu.CpuBackend()
    assert sorted(folder.iterdir()) == built and len(calls) == 2


def test_key_depends_on_text_flags_and_compiler(folder, monkeypatch):
    text = "int gc_nothing(void);\nint gc_nothing(void) { return 1; }\n"
    names = set()
    monkeypatch.setattr(cache, "cached", lambda name, make, use: names.add(name))
    libraries.build_library(text, "mixed", ())
    libraries.build_library(text, "double", ())
    libraries.build_library(text + "\n", "mixed", ())
    libraries.build_library(text, "mixed", ("-g",))
    command, version = libraries.find_compiler()
    monkeypatch.setattr(libraries, "find_compiler", lambda: (command, version + " patched"))
    libraries.build_library(text, "mixed", ())
    assert len(names) == 5


def test_many_processes_at_once(folder):
    paths = os.pathsep.join(p for p in sys.path if p)
    env = {**os.environ, "TMPDIR": tempfile.tempdir, "PYTHONPATH": paths}
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", BUILD], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    results = [r.communicate() for r in runs]
    assert [out.strip() for out, _ in results] == [b"cpu"] * 4, results
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]


TOGETHER = """
import sys, time
from pathlib import Path
from gpu_collide.backends import cache
def make():
    with open(sys.argv[1], "a") as file:
        file.write("built\\n")
    time.sleep(0.5)
    return b"library"
print(cache.cached("one.so", make, bytes.decode))
"""


def test_processes_that_want_the_same_build_it_once(folder, tmp_path):
    built = tmp_path / "built"
    command = [sys.executable, "-c", TOGETHER, str(built)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    running = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate(timeout=60)[0] for process in running] == ["library\n"] * 4
    assert built.read_text() == "built\n"
    assert [path.name for path in folder.iterdir()] == ["one.so"]


@pytest.mark.skipif(cache.fcntl is None, reason="no locks here")
def test_builder_that_stands_still_is_not_waited_for(folder, monkeypatch):
    """A process that holds the lock and does nothing (stopped, say) costs time, not the result."""
    folder.mkdir(mode=0o700)
    code = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); "
    code += "print('has it', flush=True); input()"
    command = [sys.executable, "-c", code, str(folder / ".lock-one.so")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "has it\n"
        monkeypatch.setattr(cache, "TURN_SECONDS", 0.2)
        assert cache.cached("one.so", lambda: b"mine", bytes.decode) == "mine"
        assert (folder / ".lock-one.so").exists()  # it is the other's
        other.communicate("")
    assert cache.cached("one.so", lambda: b"again", bytes.decode) == "mine"


def test_folder_that_cannot_be_made_falls_back(folder, monkeypatch):
    folder.write_text("in the way")
    chosen = cache.cache_dir()
    assert chosen.parent == Path(tempfile.tempdir) and cache.cache_dir() == chosen
    calls = count_compilations(monkeypatch)
    cpu.CpuBackend()
    assert len(calls) == 2 == len([*chosen.glob("*.so"), *chosen.glob("*.dll")])
    cpu.CpuBackend()
    assert len(calls) == 2


def test_relative_folder(tmp_path, monkeypatch):
    """The compiler ran in that folder and got the same relative path again. A later chdir moves nothing."""
    monkeypatch.setenv("GPU_COLLIDE_CACHE", "cache of tests")
    monkeypatch.setattr(cache, "_absolute", {})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    cpu.CpuBackend()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert cache.cache_dir() == tmp_path / "cache of tests" and len(list(cache.cache_dir().iterdir())) == 3
    assert not list((tmp_path / "elsewhere").iterdir())


def test_failed_build_leaves_nothing(folder):
    def make():
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        cache.cached("x.so", make, bytes)
    assert not folder.exists() or not list(folder.iterdir())


# -- what is found there is not believed ---------------------------------------------------------------------
DATA = b"\x7fELF" + bytes(range(60))


def fill(name="x.so", data=DATA):
    return cache.cached(name, lambda: data, bytes)


def built_anew(name="x.so"):
    """Whether the cache does not give what is there; puts the right thing there."""
    made = []
    used = cache.cached(name, lambda: made.append(1) or DATA, bytes)
    assert used == DATA  # never anything else
    return bool(made)


def test_every_flipped_bit_is_found(folder):
    fill()
    whole = (folder / "x.so").read_bytes()
    assert not built_anew() and whole.startswith(DATA)
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        (folder / "x.so").write_bytes(damaged)
        assert cache._load(folder, "x.so") is None, bit
    assert built_anew() and (folder / "x.so").read_bytes() == whole


def test_every_cut_is_found(folder):
    """A library that was cut short ended every later process with SIGBUS."""
    fill()
    whole = (folder / "x.so").read_bytes()
    for length in range(len(whole)):
        (folder / "x.so").write_bytes(whole[:length])
        assert cache._load(folder, "x.so") is None, length
    assert built_anew()
    (folder / "x.so").write_bytes(whole + b"\0")
    assert built_anew()


def test_a_file_under_another_name_is_not_taken(folder):
    fill()
    os.replace(folder / "x.so", folder / "y.so")
    assert built_anew("y.so")


@pytest.mark.parametrize("cut", [0, 100, 1 << 12, -1])
def test_damaged_library_is_built_again(folder, cut, monkeypatch):
    cpu.CpuBackend()
    for path in folder.iterdir():
        os.truncate(path, cut if cut >= 0 else path.stat().st_size + cut)
    calls = count_compilations(monkeypatch)
    assert cpu.CpuBackend().name == "cpu" and len(calls) == 2


def test_library_cut_short_while_it_runs(folder):
    """What is loaded does not hang on the file: cutting that killed the process with SIGBUS."""
    backend = cpu.CpuBackend()
    for path in folder.iterdir():
        os.truncate(path, 0)
    backend.self_test()


def test_whole_library_without_the_kernels(folder, monkeypatch):
    """As an older state of this package could have left it: built anew, not believed for ever."""
    real = libraries.compile_shared
    monkeypatch.setattr(
        libraries, "compile_shared", lambda c, f, text, n: real(c, f, "int gc_none = 1;\n", n)
    )
    with pytest.raises(BackendUnavailableError, match="made a library without the kernels"):
        cpu.CpuBackend()
    assert not folder.exists() or not list(folder.iterdir())
    names = []
    monkeypatch.setattr(libraries, "compile_shared", lambda *a: names.append(a[-1]) or real(*a))
    cpu.CpuBackend()
    other = real(*libraries.find_compiler()[:1], libraries.FLAGS, "int gc_none = 1;\n", "x")
    for name in names:
        (folder / name).write_bytes(other + cache._seal(name, other))
    cpu.CpuBackend()
    assert len(names) == 4


posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="about POSIX permissions")
as_root = pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root")


@posix
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702])
def test_folder_others_can_write_is_not_used(folder, mode):
    """Libraries are loaded from it: whoever can fill it would run in this process."""
    fill()
    folder.chmod(mode)
    with pytest.warns(RuntimeWarning, match="nothing is loaded from .*others may write.*GPU_COLLIDE_CACHE"):
        assert built_anew()
    chosen = cache.cache_dir()
    assert chosen != folder and stat.S_IMODE(chosen.stat().st_mode) == 0o700
    assert not built_anew()  # found in the folder that is used instead
    os.chmod(chosen, 0o777)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert built_anew() and stat.S_IMODE(cache.cache_dir().stat().st_mode) == 0o700


@posix
@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_file_others_can_write_is_not_used(folder, mode):
    fill()
    (folder / "x.so").chmod(mode)
    assert built_anew() and stat.S_IMODE((folder / "x.so").stat().st_mode) == 0o600


@as_root
@pytest.mark.parametrize("planted", ["folder", "file"])
def test_what_belongs_to_another_is_not_used(folder, planted):
    """Root would follow what anybody planted, names that cannot be guessed or not."""
    fill()
    os.chown(folder if planted == "folder" else folder / "x.so", 12345, 12345)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert built_anew()
    assert planted == "folder" or (folder / "x.so").stat().st_uid == os.getuid()


@posix
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_is_not_used(folder, kind, tmp_path):
    fill()
    os.replace(folder / "x.so", tmp_path / "whole.so")
    if kind == "link":
        (folder / "x.so").symlink_to(tmp_path / "whole.so")
    elif kind == "pipe":
        os.mkfifo(folder / "x.so")
    else:
        (folder / "x.so").mkdir()
    assert built_anew()


@posix
def test_link_to_a_folder_of_ones_own_is_fine(folder, tmp_path):
    (tmp_path / "other disk").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "other disk")
    fill()
    assert not built_anew() and (tmp_path / "other disk" / "x.so").is_file()


@posix
def test_umask_of_nobody(folder):
    """Folder and files are private whatever the user's umask lets through."""
    before = os.umask(0)
    try:
        cpu.CpuBackend()
    finally:
        os.umask(before)
    assert [stat.S_IMODE(p.stat().st_mode) for p in (folder, *folder.iterdir())] == [
        0o700,
        0o600,
        0o600,
        0o600,
    ]


@as_root
def test_planted_library_does_not_run(tmp_path):
    """Another user fills ``$TMPDIR/gpu_collide*`` before a user without a home calls: nothing of it runs."""
    tmp_path.chmod(0o1777)
    for parent in tmp_path.parents[: len(tmp_path.parents) - 2]:
        if parent.stat().st_uid == 0 and parent != Path(tempfile.gettempdir()):
            parent.chmod(parent.stat().st_mode | 0o011)
    evil = tmp_path / "evil.so"
    text = "#include <unistd.h>\n__attribute__((constructor)) static void f(void) { _exit(66); }\n"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", evil], input=text, text=True, check=True)
    code = f"""
import os, pathlib, shutil, tempfile, warnings
warnings.simplefilter("ignore")
import numpy, numpy.random
from gpu_collide.backends import cache, cpu, libraries, opencl, sources
libraries.find_compiler(); libraries._processor(); sources.kernel_files(); cpu.CpuBackend
names = []
real = cache.cached
cache.cached = lambda name, make, use: names.append(name) or real(name, make, use)
cpu.CpuBackend(threads=1)
cache.cached = real
for variable in ("HOME", "XDG_CACHE_HOME", "GPU_COLLIDE_CACHE"):
    os.environ.pop(variable, None)
tempfile.tempdir = os.environ["TMPDIR"] = {str(tmp_path)!r}
def fork_as(user, act):
    child = os.fork()
    if child == 0:
        os.setgroups([]); os.setgid(user); os.setuid(user)
        try:
            act()
        except BaseException as error:
            print(type(error), error, flush=True); os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def plant():
    os.umask(0)
    for folder in ("gpu_collide", "gpu_collide-12345"):
        os.mkdir(os.path.join({str(tmp_path)!r}, folder))
        for name in names:
            data = pathlib.Path({str(evil)!r}).read_bytes()
            (pathlib.Path({str(tmp_path)!r}) / folder / name).write_bytes(data + cache._seal(name, data))
assert fork_as(23456, plant) == 0
print("victim ended with", fork_as(12345, lambda: cpu.CpuBackend(threads=1)))
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "victim ended with 0", done.stdout + done.stderr


# -- disks that take nothing ---------------------------------------------------------------------------------
def refuse(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("what", ["write", "fsync", "replace", "mkdir"])
def test_full_disk_costs_the_cache_and_nothing_else(folder, what, monkeypatch):
    with monkeypatch.context() as disk:
        disk.setattr(Path if what == "mkdir" else os, what, refuse)  # Python 3.10 keeps os.mkdir to itself
        assert built_anew() and built_anew()
    assert not list(folder.glob("*")) + list(folder.glob(".*"))
    assert built_anew() and not built_anew()


@posix
def test_a_build_stops_half_way(folder, monkeypatch):
    """A process that is killed while it writes leaves nothing under the name that others look for."""
    fill()
    before = (folder / "x.so").read_bytes()
    code = "from gpu_collide.backends import cache; import os\n"
    code += "os.fsync = lambda fd: os._exit(9)\ncache.keep('x.so', b'other')\n"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    assert subprocess.run([sys.executable, "-c", code], env=env).returncode == 9
    assert (folder / "x.so").read_bytes() == before


@posix
def test_private_folder_is_private(folder, tmp_path, monkeypatch):
    """Where others can rename what is in the temporary folder, it is not used."""
    monkeypatch.setattr(cache, "_private", {})
    os.chmod(tempfile.tempdir, 0o777)
    folder.mkdir(mode=0o700)
    assert cache.private_file("x.so", DATA).parent.parent == folder
    monkeypatch.setattr(cache, "_private", {})
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="that others cannot write to"):
        cache.private_file("x.so", DATA)


def test_private_folder_is_removed_at_the_end(tmp_path):
    code = "from gpu_collide.backends import cache; print(cache.private_file('x.so', b'abc'))\n"
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).parent.parent == tmp_path and not list(tmp_path.iterdir())


# -- folders of libraries that open them by name -------------------------------------------------------------
@posix
def test_folders_above_count_for_those_who_open_by_name(tmp_path):
    folder = tmp_path / "shared" / "mine"
    assert cache.safe_by_name(folder)
    (tmp_path / "shared").chmod(0o777)
    assert not cache.safe_by_name(folder)  # others could rename it and put theirs there
    (tmp_path / "shared").chmod(0o1777)
    assert cache.safe_by_name(folder) == (os.getuid() == 0)  # of root's sticky folders, such as /tmp
    folder.chmod(0o770)
    assert not cache.safe_by_name(folder)
    (tmp_path / "file").touch()
    assert not cache.safe_by_name(tmp_path / "file" / "below")


@posix
@pytest.mark.parametrize("mode, moved", [(0o700, False), (0o755, False), (0o777, True), (0o775, True)])
def test_cache_of_pocl(folder, tmp_path, monkeypatch, mode, moved):
    """PoCL runs what lies there: where others can write to it, it gets a folder in ours."""
    monkeypatch.setenv("POCL_CACHE_DIR", "x")  # so that what is set now is unset afterwards
    monkeypatch.delenv("POCL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "pocl").mkdir(parents=True)
    (tmp_path / "home" / "pocl").chmod(mode)
    opencl._prepare_pocl()
    assert os.environ.get("POCL_CACHE_DIR") == (str(folder / "pocl") if moved else None)


@posix
def test_cache_of_pocl_without_a_home(folder, monkeypatch):
    for name in ("POCL_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)
    opencl._prepare_pocl()
    assert os.environ["POCL_CACHE_DIR"] == str(folder / "pocl")
