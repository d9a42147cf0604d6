"""Compilers that misbehave: each is reported, with a remedy, and the next backend is tried."""

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pytest

import gpu_collide.backends as backends
from gpu_collide.backends import compiler, cpu, libraries
from gpu_collide.errors import BackendUnavailableError, KernelCompileError

posix = pytest.mark.skipif(os.name != "posix", reason="the compilers here are shell scripts")
COLLIDE = """
import warnings; warnings.simplefilter("ignore")
import gpu_collide as gc
i = gc.Poses.identity(2)
print(gc.collide(gc.Bodies(gc.shapes.box(), None, i, i), [[0, 1]], backend={!r}).info["backend"])
"""


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    try:
        libraries.find_compiler()
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    for name in ("CC", "GPU_COLLIDE_CFLAGS", "GPU_COLLIDE_COMPILE_SECONDS", "GPU_COLLIDE_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(backends, "_open", {})
    monkeypatch.setattr(backends, "_refused", {})
    monkeypatch.setattr(backends, "_warned", False)
    compiler._find_compiler.cache_clear()


def fake_compiler(tmp_path, text):
    """A compiler that knows its version and otherwise does `text`; $out is the file it should write."""
    script = tmp_path / "cc of tests"
    script.write_text(
        '#!/bin/sh\ncase "$*" in *--version*) echo test 1.0; exit 0;; esac\n'
        'all="$*"; while [ $# -gt 0 ]; do [ "$1" = -o ] && out="$2"; shift; done\n' + text
    )
    script.chmod(0o755)
    return f"'{script}'"


def python(code, **env):
    paths = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths, **env}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@posix
@pytest.mark.parametrize(
    "text, reason",
    [
        ("cat >/dev/null; echo 'int x;' | cc -shared -fPIC -x c - -o \"$out\"", "without the kernels"),
        ('cat >/dev/null; : >"$out"', "without the kernels|cannot be loaded"),
        ('cat >/dev/null; head -c 5000 /dev/urandom >"$out"', "cannot be loaded"),
        ("cat >/dev/null", "wrote nothing"),
        ("cat >/dev/null; echo no headers >&2; exit 1", "no headers"),
        ("exit 1", "failed"),  # reads nothing of a text that is larger than a pipe
        ("kill -SEGV $$", "failed"),
    ],
)
def test_compiler_that_gives_no_kernels(tmp_path, monkeypatch, text, reason):
    monkeypatch.setenv("CC", fake_compiler(tmp_path, text))
    with pytest.raises(BackendUnavailableError, match=f"(?s)cannot build shared libraries.*({reason})"):
        cpu.CpuBackend()
    assert not list(tmp_path.glob("cache/*")) and not list(tmp_path.glob("cache/.*"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert backends.get_backend("auto", "mixed").name != "cpu"


@posix
def test_compiler_that_fails_at_the_kernels_alone(tmp_path, monkeypatch):
    """It builds the small test, so the backend opens; "auto" finds out while there are others to go on to."""
    text = 'cat >"$out.c"; grep -q s07_solve "$out.c" && { echo too large >&2; exit 1; }\n'
    text += 'cc -shared -fPIC -O1 -ffp-contract=off -DGC_PRECISION=${all##*GC_PRECISION=} -x c "$out.c"'
    text = text.replace("${all##*GC_PRECISION=}", '$(echo "$all" | sed "s/.*GC_PRECISION=//;s/ .*//")')
    monkeypatch.setenv("CC", fake_compiler(tmp_path, text + ' -o "$out" -lm'))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert backends.get_backend("cpu").name == "cpu"
        assert backends.get_backend("auto", "mixed").name != "cpu"
    with pytest.raises(KernelCompileError, match="too large"):
        backends.get_backend("cpu").module("solve", "mixed")
    programs = ("screw", "screen", "solve")
    assert isinstance(
        backends._refused["cpu", backends.get_backend("cpu").device, "mixed", programs], KernelCompileError
    )  # and is not tried at every call


NAP = f"{90_000 + os.getpid()}.25"  # seconds that no other run of these tests asks for


def processes_with(word, seconds=5.0):
    """Processes with the word in their command that are still there after `seconds`: the system takes a
    moment to clear away those that were killed."""
    until = time.monotonic() + seconds
    while True:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if word in path.read_bytes().replace(b"\0", b" ").decode(errors="replace"):
                    found.append(path)
            except OSError:
                continue
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.05)


@posix
def test_compiler_that_never_returns(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", fake_compiler(tmp_path, f"sleep {NAP} & sleep {NAP}"))
    monkeypatch.setenv("GPU_COLLIDE_COMPILE_SECONDS", "0.5")
    begun = time.monotonic()
    with pytest.raises(BackendUnavailableError, match="within 0.5 s; GPU_COLLIDE_COMPILE_SECONDS"):
        cpu.CpuBackend()
    assert time.monotonic() - begun < 10
    assert not processes_with(NAP) and not list(tmp_path.glob("cache/.*"))
    why = {d.backend: d.why_not for d in backends.devices()}["cpu"]
    assert "did not compile the kernels within" in why


@posix
def test_compiler_that_never_says_its_version(tmp_path, monkeypatch):
    script = tmp_path / "silent"
    script.write_text(f"#!/bin/sh\nsleep {NAP}\n")
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setattr(compiler, "VERSION_SECONDS", 0.3)
    with pytest.warns(RuntimeWarning, match="it said no version within 0.3 s; trying cc, gcc"):
        assert libraries.find_compiler()[0][0] != str(script)
    assert not processes_with(NAP)


@pytest.mark.parametrize(
    "cc, reason", [("gcc 'x", "No closing quotation"), ("no-such-cc", "no such command")]
)
def test_cc_that_is_no_command(monkeypatch, cc, reason):
    monkeypatch.setenv("CC", cc)
    with pytest.warns(RuntimeWarning, match=rf"that \$CC names.*{reason}"):
        assert libraries.find_compiler()[0][0] in ("cc", "gcc", "clang", sys.executable)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(compiler, "_has_ziglang", lambda: False)
    with warnings.catch_warnings(), pytest.raises(BackendUnavailableError, match=f"no C compiler.*{reason}"):
        warnings.simplefilter("ignore")
        libraries.find_compiler()


@pytest.mark.parametrize(
    "name, value, reason",
    [
        ("GPU_COLLIDE_CFLAGS", "-g 'x", "GPU_COLLIDE_CFLAGS cannot be read as flags: No closing quotation"),
        ("GPU_COLLIDE_CFLAGS", "--nonsense=7", "kernels with GPU_COLLIDE_CFLAGS='--nonsense=7'; correct it"),
        ("GPU_COLLIDE_COMPILE_SECONDS", "soon", "GPU_COLLIDE_COMPILE_SECONDS must be a number of seconds"),
        ("GPU_COLLIDE_COMPILE_SECONDS", "-1", "GPU_COLLIDE_COMPILE_SECONDS must be a number of seconds"),
    ],
)
def test_nonsense_in_variables(monkeypatch, name, value, reason):
    monkeypatch.setenv(name, value)
    with pytest.raises(BackendUnavailableError, match=reason):
        cpu.CpuBackend()
    assert reason in {d.backend: d.why_not for d in backends.devices()}["cpu"]


# -- disks ---------------------------------------------------------------------------------------------------
def test_full_disks_are_told_and_passed_over(tmp_path, monkeypatch):
    def full(parent):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(compiler, "scratch_folder", full)
    with pytest.raises(BackendUnavailableError, match="no folder to compile.*No space left.*make room"):
        cpu.CpuBackend()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert backends.get_backend("auto", "mixed").name != "cpu"


@posix
def test_the_next_disk_has_room(tmp_path, monkeypatch):
    """The compiler fails on a full disk for no fault of its own: it has another try elsewhere."""
    text = 'case "$out" in */full/*) cat >/dev/null; echo No space left >&2; exit 1;; esac\n'
    monkeypatch.setenv("CC", fake_compiler(tmp_path, text + "exec cc $all"))
    (tmp_path / "full").mkdir()
    (tmp_path / "room").mkdir()
    monkeypatch.setattr(compiler, "build_folders", lambda: [tmp_path / "full", tmp_path / "room"])
    with pytest.raises(BackendUnavailableError, match="No space left"):  # there is room: its own fault
        cpu.CpuBackend()
    real = os.write

    def write(fd, data):
        if "/full/" in os.readlink(f"/proc/self/fd/{fd}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(fd, data)

    monkeypatch.setattr(os, "write", write)
    assert cpu.CpuBackend().name == "cpu"


def mounted(folder, size):
    folder.mkdir()
    if not hasattr(os, "getuid") or os.getuid() != 0:
        return False
    options = f"size={size},mode=700"
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], capture_output=True)
    return done.returncode == 0


@posix
def test_small_disk_for_real(tmp_path):
    """A cache of 8 kB: neither the build nor the library fits in it."""
    folder = tmp_path / "small"
    if not mounted(folder, "8k"):
        pytest.skip("needs leave to mount a file system")
    try:
        found = python("from gpu_collide.backends import cpu; print(cpu.CpuBackend().name)",
                       GPU_COLLIDE_CACHE=str(folder))  # fmt: skip
        out, err = found.communicate(timeout=300)
        assert out.strip() == "cpu" and not err, err
        assert not [p for p in folder.iterdir() if p.name.startswith(".")]
    finally:
        subprocess.run(["umount", "-l", folder])


@posix
def test_no_writable_folder_at_all(tmp_path, monkeypatch):
    """Read-only disks everywhere: the library goes through memory, or the reason is given."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: (_ for _ in ()).throw(FileNotFoundError("none")))
    assert not [p for p in compiler.build_folders() if p != Path("/dev/shm")]
    monkeypatch.setattr(compiler, "build_folders", lambda: [])
    with pytest.raises(BackendUnavailableError, match="no folder to compile"):
        cpu.CpuBackend()


# -- Ctrl-C --------------------------------------------------------------------------------------------------
@posix
def test_ctrl_c_while_compiling_leaves_nothing(tmp_path):
    """No compiler that runs on, nothing half built, and the next process builds."""
    slow = fake_compiler(tmp_path, f"sleep {NAP}")
    code = COLLIDE.format("cpu").replace("gc.collide", "print('now', flush=True) or gc.collide")
    child = python(code, CC=slow)
    assert child.stdout.readline() == "now\n"
    for _ in range(100):
        if processes_with(NAP, 0):
            break
        time.sleep(0.1)
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in err and child.returncode != 0 and time.monotonic() - begun < 5
    assert not processes_with(NAP)
    assert not list(tmp_path.glob("cache/*")) + list(tmp_path.glob("cache/.*"))


def test_modes_of_what_is_built(tmp_path):
    cpu.CpuBackend()
    if os.name == "posix":
        assert {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "cache").iterdir()} == {0o600}
