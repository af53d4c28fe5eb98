"""A project of several modules whose graph is drawn and edited at random, mostly wrong, from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

STEP_MODULES = 3
KINDS = 14
"""Of edits."""
FIELDS = [
    *("a: int = 0", "b: int = 0", "c: socket | None = None", "d: complex = 0j"),
    *("e: dict[tuple[int, int], int] = {}", "f: Thing | None = None", "g: list[Thing] = []"),
]
NODES = [f"n{number}" for number in range(9)]
TARGETS = [*NODES, "nx", "renamed", "each", "inside"]
RESULTS = ["Essay", "Essay", "None", "Other", "int"]
THINGS = ["Thing(msgspec.Struct)", "Thing", "Thing(Exception)", "Thing(ToolContext, frozen=True)"]
PARAMETERS = ["a: int", "*a: int", "a: int, /", "ctx: ToolContext, thing: Thing", "**a: int", "thing: Thing"]
"""Of a tool; whether it has two contexts is said in another module."""
TOPS = ["@node", "@node", "@node", '@node("renamed")', "@node(timeout=0)", "@timer(5)", '@wait_for_event("asked")', "@parallel(branch_of)"]
POLICIES = [
    "@boundary",
    "@boundary(timeout=5)",
    "@retry(2)",
    '@on_failure("n1")',
    '@on_failure("nx")',
    '@on_reject("n2")',
    '@on_timeout("n3")',
]


@dataclass
class Step:
    """One node: its module, its decorators and its function."""

    name: str
    module: int
    top: str = "@node"
    marks: list[str] = field(default_factory=list[str])
    result: str = "Essay"
    is_async: bool = False

    def source(self) -> str:
        if "parallel" in self.top:
            function = f"def {self.name}(e: Essay, results: list[Essay]) -> Essay: return e"
        else:
            keyword = "async def" if self.is_async and self.top.startswith("@node") else "def"
            result = self.result if self.top.startswith("@node") else "Essay"
            function = f"{keyword} {self.name}(e: Essay) -> {result}: return e.replace(a=1)"
        return "\n".join([self.top, *self.marks, function])


class Project:
    """Its source, module by module; `edit` changes something, `write` brings the files up to date."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._steps = {name: Step(name, number % STEP_MODULES, marks=[f'@edge("{TARGETS[number + 1]}")']) for number, name in enumerate(NODES)}
        self._listed = list(NODES)
        self._fields = ["a: int = 0", "b: int = 0"]
        self._overrides = "a=1"
        self._thing = THINGS[0]
        self._parameters = PARAMETERS[0]
        self._has_docstring = True
        self._is_rebound = False
        self._looked_at = NODES[:2]
        self._pauses_inside = False
        self._child_is_durable = True
        self._kinds: list[int] = []

    def edit(self) -> None:
        step = self._steps[self._random.choice(NODES)]
        match self._next_kind():
            case 0 | 1 | 2:
                step.marks = self._marks()
            case 3:
                step.top = self._random.choice(TOPS)
            case 4:
                step.result = self._random.choice([result for result in RESULTS if result != step.result])
            case 5:
                step.is_async = not step.is_async
            case 6:
                self._listed = self._random.sample(NODES, self._random.randrange(3, len(NODES) + 1))
            case 7:
                self._pauses_inside, self._child_is_durable = self._random.random() < 0.5, self._random.random() < 0.7
            case 8:
                self._looked_at = self._random.sample(NODES, 2)
            case 9:
                self._is_rebound = not self._is_rebound
            case 10:
                self._thing = self._random.choice(THINGS)
            case 11:
                self._parameters = self._random.choice(PARAMETERS)
            case 12:
                self._has_docstring = not self._has_docstring
            case _:
                self._fields = self._random.sample(FIELDS, self._random.randrange(1, 4)) if self._random.random() < 0.8 else ["a: str = ''"]
                self._overrides = self._random.choice(["a=1", "b=1", "a='x'"])

    def _next_kind(self) -> int:
        """Of edit: each comes up before one comes up again, so that even a few rounds have all."""
        if not self._kinds:
            self._kinds = self._random.sample(range(KINDS), KINDS)
        return self._kinds.pop()

    def write(self, folder: Path) -> None:
        package = folder / "pkg"
        package.mkdir(exist_ok=True)
        for name, source in self._modules().items():
            file = package / f"{name}.py"
            if not file.exists() or file.read_text() != source:
                file.write_text(source)

    def _marks(self) -> list[str]:
        edges = [self._edge() for _ in range(self._random.randrange(4))]
        policies = self._random.sample(POLICIES, self._random.randrange(3)) if self._random.random() < 0.4 else []
        marks = [*edges, *policies]
        self._random.shuffle(marks)
        return marks

    def _edge(self) -> str:
        if self._random.random() < 0.15:
            return self._random.choice(["@to_next", "@to_other"])
        target = self._random.choice(TARGETS)
        return f'@when(g, to="{target}")' if self._random.random() < 0.5 else f'@edge("{target}")'

    def _modules(self) -> dict[str, str]:
        thing = f"import msgspec\nfrom strata import ToolContext\nclass {self._thing}:\n    pass\n"
        modules = {"__init__": "", "thing": thing, "state": self._state(), "child": self._child(), "flow": self._flow()}
        modules |= {"look": self._look(), "tools": self._tools()}
        return modules | {f"s{module}": self._step_module(module) for module in range(STEP_MODULES)}

    def _look(self) -> str:
        """Where two nodes come together, mypy takes facts off one of them."""
        imports = "".join(f"from pkg.s{self._steps[name].module} import {name}\n" for name in self._looked_at)
        return f"{imports}for step in ({', '.join(self._looked_at)}): print(step.name)\n"

    def _tools(self) -> str:
        docstring = '    "Does it."\n' if self._has_docstring else ""
        function = f"def bare({self._parameters}) -> str:\n{docstring}    return ''\n"
        called = function.replace("bare", "called")
        return (
            "from __future__ import annotations\nfrom pkg.thing import Thing\nfrom strata import ToolContext, strata_tool\n"
            f"@strata_tool\n{function}@strata_tool('pods')\n{called}"
        )

    def _state(self) -> str:
        fields = "".join(f"    {line}\n" for line in self._fields)
        head = "from __future__ import annotations\nfrom socket import socket\nfrom pkg.thing import Thing\nfrom strata import State\n"
        return f"{head}class Essay(State):\n    k: int = 0\n{fields}class Other(State):\n    z: int = 0\n"

    def _child(self) -> str:
        pause = "@boundary\n" if self._pauses_inside else ""
        return (
            "from __future__ import annotations\nfrom strata import StateGraph, boundary, edge, node\nfrom pkg.state import Other\n"
            f'@node\n{pause}@edge("leave")\ndef enter(o: Other) -> Other: return o\n@node\ndef leave(o: Other) -> Other: return o\n'
            f"child = StateGraph(Other).start(enter).nodes(leave).compile(durable={self._child_is_durable})\n"
            'to_next = edge("n4")\n' + ('if child.warnings: to_next = edge("n5")\n' if self._is_rebound else "")
        )

    def _step_module(self, module: int) -> str:
        head = (
            "from __future__ import annotations\n"
            "from strata import boundary, edge, node, on_failure, on_reject, on_timeout, parallel, retry, timer, wait_for_event, when\n"
            "from pkg.state import Essay, Other\n"
            "def g(e: Essay) -> bool: return True\ndef branch_of(e: Essay) -> Essay: return e\n"
        )
        rebound = 'if g(Essay()): to_next = edge("n2")\n' if self._is_rebound else ""
        head += "from pkg.child import to_next as to_other\n" if module else 'to_other = edge("n3")\n'
        head += f'to_next = edge("n1")\n{rebound}'
        return head + "".join(f"{step.source()}\n" for step in self._steps.values() if step.module == module)

    def _flow(self) -> str:
        imports = "".join(
            f"from pkg.s{module} import {', '.join(name for name in NODES if self._steps[name].module == module)}\n" for module in range(STEP_MODULES)
        )
        first, *others = self._listed
        return (
            "from __future__ import annotations\nfrom strata import StateGraph, edge, map_each, subgraph\n"
            f"from pkg.child import child\nfrom pkg.state import Essay, Other\n{imports}"
            "def items(e: Essay) -> list[int]: return []\ndef each_of(e: Essay, i: int) -> Other: return Other()\n"
            "def into(e: Essay) -> Other: return Other()\n"
            '@map_each(child, items=items, key=str, enter=each_of)\n@edge("n1")\ndef each(e: Essay, r: list[Other]) -> Essay: return e\n'
            '@subgraph(child, enter=into)\n@edge("n2")\ndef inside(e: Essay, o: Other) -> Essay: return e\n'
            f"wiring = StateGraph(Essay).start({first}).nodes({', '.join(others)})\n"
            f"graph = wiring.nodes(each, inside).compile()\ngraph.approve('x').override({self._overrides})\n"
        )
