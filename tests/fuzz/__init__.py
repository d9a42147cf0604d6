"""A fuzzer over the whole query: `python -m tests.fuzz --minutes 60 --seed 1`.

scenes.py and meshes.py make a hostile or structured scene of a plain seed; calls.py asks for its contacts in
several ways and says what breaks a promise; __main__.py runs seeds in a process of its own, so that a crash
or a hang is a finding too. Each finding is printed with the seed that reproduces it.
"""
