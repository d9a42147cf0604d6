"""Functions cut into basic blocks, with the block at which lanes that parted come together again."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.ptx.parse import Function, Instruction, Label, Module, PtxError

__all__ = ["EXIT", "Block", "ends", "numbered"]

EXIT = -1  # in the place of a block: the return from the function


@dataclass
class Block:
    """Instructions that are executed one after the other, once one of them is.

    `next` are the places in the list of all blocks where lanes may go on, `join` where all do that parted
    here: its immediate postdominator. `callee` is the first block of the function that its last instruction
    calls.
    """

    function: str
    instructions: list[Instruction] = field(default_factory=list)
    next: list[int] = field(default_factory=list)
    join: int = EXIT
    callee: int | None = None


def ends(statement) -> bool:
    """Whether a block ends with this statement."""
    return isinstance(statement, Instruction) and statement.op.split(".")[0] in ("bra", "call", "ret")


def numbered(module: Module) -> list[Block]:
    """All blocks of a module's functions, in the order in which a translation with ``trace`` numbers them."""
    found: list[Block] = []
    first: dict[str, int] = {}
    calls: list[tuple[Block, str]] = []
    for f in module.functions:
        first[f.name] = len(found)
        own, labels = _cut(f, len(found))
        found += own
        for i, block in enumerate(own, first[f.name]):
            _lead_on(block, i, labels, i + 1 < len(found))
            last = block.instructions[-1] if block.instructions else None
            if last and last.op.startswith("call"):
                if last.guard:
                    raise PtxError(f"{f.name}, {last.place}: a call with a guard is not counted")
                calls.append((block, next(o for o in last.operands if not o.startswith("("))))
        for i, join in _postdominators(own, first[f.name]).items():
            found[i].join = join
    for block, name in calls:
        block.callee = first[name]
    return found


def _cut(f: Function, at: int) -> tuple[list[Block], dict[str, int]]:
    """Blocks of one function, and by label the place of the block that begins there."""
    blocks, labels = [Block(f.name)], {}
    for s in f.body:
        if isinstance(s, Instruction):
            blocks[-1].instructions.append(s)
        if isinstance(s, Label):
            labels[s.name] = at + len(blocks)
        if isinstance(s, Label) or ends(s):
            blocks.append(Block(f.name))
    return blocks, labels


def _lead_on(block: Block, i: int, labels: dict[str, int], more: bool) -> None:
    last = block.instructions[-1] if block.instructions and ends(block.instructions[-1]) else None
    kind = last.op.split(".")[0] if last else ""
    if kind == "bra":
        block.next.append(labels[last.operands[0]])
    if kind == "ret":
        block.next.append(EXIT)
    if more and (kind in ("", "call") or last.guard):
        block.next.append(i + 1)


def _postdominators(blocks: list[Block], at: int) -> dict[int, int]:
    """The immediate postdominator of each block that reaches the exit (Cooper, Harvey and Kennedy 2001)."""
    before: dict[int, list[int]] = {}
    for i, block in enumerate(blocks, at):
        for n in block.next:
            before.setdefault(n, []).append(i)
    order, seen, stack = [], {EXIT}, [(EXIT, iter(before.get(EXIT, ())))]
    while stack:
        node, rest = stack[-1]
        for n in rest:
            if n not in seen:
                seen.add(n)
                stack.append((n, iter(before.get(n, ()))))
                break
        else:
            order.append(node)
            stack.pop()
    rank = {node: k for k, node in enumerate(order)}
    join = {EXIT: EXIT}

    def meet(a: int, b: int) -> int:
        while a != b:
            while rank[a] < rank[b]:
                a = join[a]
            while rank[b] < rank[a]:
                b = join[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            least = None
            for n in blocks[node - at].next:
                if n in join:
                    least = n if least is None else meet(n, least)
            if join.get(node) != least:
                join[node] = least
                changed = True
    del join[EXIT]
    return join
