"""The backend `cuda` without a GPU: NVRTC's PTX runs on the processor, behind a stand-in for CuPy.

    parse.py      PTX to statements, each with the source line it comes from
    opcodes.py    what each opcode computes, as C; what is not in the table is an error
    translate.py  a PTX module to one C file
    shadow.h      shadow memory, what counts as a failure
    runtime.h     work-items as fibres, a launch
    arithmetic.h  what C has no operator for
    build.py      that C file built and kept
    device.py     memory, its shadow, launches and their failures
    blocks.py     functions cut into basic blocks, and where lanes that parted come together again
    lockstep.h    traces of work-items put together to what their warp executed
    counting.py   counts of launches: instructions, lanes at work, bytes
    weights.py    what an instruction costs, by pipe
    cubin.py      registers, stack and shared memory of NVRTC's machine code, occupancy
    stand_in/     a package called cupy, as strict as CuPy
    install.py    puts the stand-in where `import cupy` finds it
    parts.py      the long run in parts, whose outcomes are kept
    __main__.py   the long run, with a page of report

It sees PTX, not what ptxas makes of it, and says nothing of time; counts are for comparing kernels with each
other (``python -m bench counted``).
"""
