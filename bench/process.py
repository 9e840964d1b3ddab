"""Run a command to its end and measure what it took: wall time, processor time, memory, and how busy others were."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_POLL_S = 0.005


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a command took."""

    wall_s: float
    cpu_s: float  # user and system, of it and of the children it waited for
    peak_mb: float  # largest resident set of one process
    machine_cpu_s: float  # busy time of the whole machine meanwhile
    exit_status: int  # negative: the signal that ended it; -9 also when time was up


def run(command: Sequence[str], log: Path, timeout_s: float) -> Usage:
    """Return what *command* took; its output goes to *log*, and it is killed after *timeout_s*."""
    busy, began = _machine_cpu_s(), time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    peak_kb = 0
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        wall = time.monotonic() - began
        if pid:
            break
        if wall > timeout_s:
            os.killpg(process.pid, signal.SIGKILL)
        peak_kb = max(peak_kb, _peak_kb(process.pid))
        time.sleep(_POLL_S)
    process.returncode = os.waitstatus_to_exitcode(status)  # it is waited for already
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # whatever it left behind
    # ru_maxrss also counts this program's own image between fork and exec: below that, what was seen is right.
    own_kb = _peak_kb(os.getpid())
    return Usage(
        wall_s=wall,
        cpu_s=used.ru_utime + used.ru_stime,
        peak_mb=(used.ru_maxrss if used.ru_maxrss > 1.1 * own_kb else peak_kb) / 1024,
        machine_cpu_s=_machine_cpu_s() - busy,
        exit_status=process.returncode,
    )


def _peak_kb(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def _machine_cpu_s() -> float:
    fields = [int(value) for value in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _idle, _wait, interrupts, soft = fields[:7]
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")
