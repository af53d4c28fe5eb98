"""Decorators: what a function becomes, and what each wrong stacking says."""

from __future__ import annotations

import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from functools import lru_cache, partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, Optional, TypeVar

import pytest

import strata
from strata import Context, Node, State, StateGraph, boundary, branch, edge, node, on_reject, when
from strata.graph.spec import Handler

if TYPE_CHECKING:
    from strata import Context as OnlyForCheckers


untyped: Any = strata
"""For calls that a checker refuses, and that are made all the same by who runs none."""

AnyState = TypeVar("AnyState", bound=State)


class Essay(State):
    score: int = 0


class Letter(State):
    text: str = ""


def line_here() -> int:
    return sys._getframe(1).f_lineno  # pyright: ignore[reportPrivateUsage]


def at(line: int) -> str:
    return f"{__file__}:{line}"


def improve(essay: Essay) -> Essay:
    """Make it better."""
    return essay.replace(score=essay.score + 1)


def is_good(essay: Essay) -> bool:
    return essay.score > 3


# What a node is


def test_a_node_calls_its_function_plainly() -> None:
    assert node("improve")(improve)(Essay(score=2)) == Essay(score=3)


def test_a_node_keeps_what_its_function_says_of_itself() -> None:
    better = node("better")(improve)
    assert better.__wrapped__ is improve
    assert (better.__name__, better.__doc__) == ("improve", "Make it better.")
    assert better.__signature__ == inspect.signature(improve)
    assert better.name == "better"


def test_the_name_is_the_functions_own_unless_one_is_given() -> None:
    assert node(improve).name == "improve"
    assert node()(improve).name == "improve"
    assert node("better")(improve).name == "better"


def test_a_node_knows_the_line_of_its_decorator() -> None:
    line = line_here() + 2

    @node
    @edge("next")
    @when(is_good, to="done")
    @boundary
    @on_reject("start")
    def here(essay: Essay) -> Essay:
        return essay

    assert str(here.spec.place) == at(line)
    assert [(way.target, str(way.place)) for way in here.spec.edges] == [("next", at(line + 1)), ("done", at(line + 2))]
    assert here.spec.boundary is not None
    assert (here.spec.boundary.on_reject, str(here.spec.boundary.place), str(here.spec.boundary.on_reject_place)) == (
        "start",
        at(line + 3),
        at(line + 4),
    )


def test_edges_stand_in_reading_order_whatever_other_marks_are_between() -> None:
    @node
    @when(is_good, to="a")
    @boundary()
    @edge("b")
    @on_reject("z")
    @when(is_good, to="c")
    def many(essay: Essay) -> Essay:
        return essay

    assert [(way.target, way.guard is not None) for way in many.spec.edges] == [("a", True), ("b", False), ("c", True)]


def test_targets_are_names_or_nodes() -> None:
    better = node("better")(improve)
    assert [way.target for way in node(edge(better)(improve)).spec.edges] == ["better"]
    assert [way.target for way in node(edge("later")(improve)).spec.edges] == ["later"]


def test_a_timeout_is_a_timedelta_or_seconds() -> None:
    assert node("a", timeout=timedelta(minutes=2))(improve).spec.timeout == 120.0
    assert node("a", timeout=2)(improve).spec.timeout == 2.0


@pytest.mark.parametrize("timeout", ["3", True, [3]])
def test_a_timeout_that_is_neither_is_refused(timeout: Any) -> None:
    with pytest.raises(TypeError, match="a duration is a timedelta or a number of seconds, not"):
        node("a", timeout=timeout)(improve)


def test_metadata_is_taken_as_it_was_at_the_decorator() -> None:
    metadata = {"model": "small"}
    marked = node("a", metadata=metadata)(improve)
    metadata["model"] = "large"
    assert marked.spec.metadata == {"model": "small"}


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        ({"retries": 3}, "the value 3 under 'retries'"),
        ({"model": None}, "the value None under 'model'"),
        ({1: "a"}, "the key 1"),
        ({"a": "\ud800"}, "is no text"),
        ("model", "is a dict of text to text, not 'model'"),
    ],
)
def test_metadata_that_is_not_text_to_text_is_refused(metadata: Any, text: str) -> None:
    for use in (
        lambda: node("a", metadata=metadata)(improve),
        lambda: branch("a", improve, metadata=metadata),
        lambda: StateGraph(Essay).set_node_metadata("a", metadata),
    ):
        with pytest.raises(TypeError, match=text):
            use()


# The context, wherever it stands


def handler(made: Node[Any, Any, Any, Any]) -> Handler:
    assert isinstance(made.spec.body, Handler)
    return made.spec.body


def takes(fn: Callable[..., Any]) -> bool:
    return handler(node("n")(fn)).takes_context


async def called(fn: Callable[..., Any]) -> Any:
    """What the engine gets: the handler called with `Essay(score=1)`, and a context (here a word) where it takes one."""
    made, state = handler(node("n")(fn)), Essay(score=1)
    result = made.call(state, "context") if made.takes_context else made.call(state)
    return await result if made.is_async else result


async def test_typ_02_the_context_may_stand_second_first_or_by_keyword() -> None:
    def second(essay: Essay, ctx: Context) -> Any:
        return essay, ctx

    def first(ctx: Context, essay: Essay) -> Any:
        return essay, ctx

    def keyword(essay: Essay, *, ctx: Context) -> Any:
        return essay, ctx

    def behind(essay: Essay, more: int = 3, ctx: Context | None = None) -> Any:
        return essay, ctx

    async def asked_first(ctx: Context, essay: Essay) -> Any:
        return essay, ctx

    for fn in (second, first, keyword, behind, asked_first):
        assert await called(fn) == (Essay(score=1), "context"), fn.__name__


def test_without_a_context_parameter_none_is_given() -> None:
    def plain(essay: Essay) -> Essay:
        return essay

    def rounded(essay: Essay, digits: int = 2, **more: str) -> Essay:
        return essay

    assert not takes(plain)
    assert not takes(rounded)


def test_typ_01_the_state_may_have_any_name() -> None:
    def data(data: Essay) -> Essay:
        return data

    def positional(essay: Essay, /) -> Essay:
        return essay

    assert node(data)(Essay()) == node(positional)(Essay()) == node("short")(lambda x: x)(Essay())


def test_typ_04_postponed_annotations_are_read_in_functions_methods_and_nested_classes() -> None:
    class Outer:
        class Inner:
            def method(self, essay: Essay, ctx: Context) -> Essay:
                return essay

            @classmethod
            def of_class(cls, essay: Essay, ctx: Context) -> Essay:
                return essay

            @staticmethod
            def of_none(essay: Essay, ctx: Context) -> Essay:
                return essay

            def __call__(self, essay: Essay, ctx: Context) -> Essay:
                return essay

    inner = Outer.Inner()
    assert all(takes(fn) for fn in (inner.method, inner.of_class, Outer.Inner.of_none, inner))


def test_typ_04_a_context_that_is_known_by_a_local_name_is_found() -> None:
    from strata import Context as Ctx

    def local(essay: Essay, c: Ctx) -> Essay:
        return essay

    assert handler(node("n")(local)).takes_context


def test_typ_04_optional_and_annotated_contexts_are_found() -> None:
    def maybe(essay: Essay, ctx: Context | None = None) -> Essay:
        return essay

    def maybe_too(essay: Essay, ctx: Optional[Context] = None) -> Essay:  # noqa: UP045
        return essay

    def annotated(essay: Essay, ctx: Annotated[Context, "the run"]) -> Essay:
        return essay

    assert takes(maybe)
    assert takes(maybe_too)
    assert takes(annotated)


def test_typ_13_a_hint_for_checkers_only_is_no_error() -> None:
    def unknown_result(essay: Essay) -> OnlyForCheckers:
        raise NotImplementedError

    def unknown_default(essay: Essay, more: OnlyForCheckers | None = None) -> Essay:
        return essay

    assert not takes(unknown_result)
    assert not takes(unknown_default)


def test_typ_13_a_context_imported_for_checkers_only_goes_by_its_name() -> None:
    namespace: dict[str, Any] = {}
    source = "def handler(essay: 'Essay', ctx: 'strata.Context') -> 'Essay': return essay"
    exec(source, namespace)  # noqa: S102
    assert takes(namespace["handler"])


def test_typ_13_a_hint_that_is_needed_and_unknown_is_named() -> None:
    def unclear(essay: Essay, ctx: OnlyForCheckers) -> Essay:
        return essay

    with pytest.raises(TypeError, match=r"nothing fills its parameter 'ctx': its annotation cannot be resolved .*OnlyForCheckers"):
        node(unclear)


def test_a_context_of_another_library_is_not_ours() -> None:
    from decimal import Context as Precision

    def precise(essay: Essay, rules: Precision | None = None) -> Essay:
        return essay

    assert Precision is not None
    assert not takes(precise)


# Functions of every make


async def test_typ_14_partials_methods_and_wrappers_keep_their_names_and_their_being_async() -> None:
    async def rate(essay: Essay, ctx: Context, *, factor: int) -> Essay:
        return essay.replace(score=essay.score * factor)

    class Scorer:
        async def score(self, essay: Essay) -> Essay:
            return essay.replace(score=9)

    nested = partial(partial(rate, factor=2))
    assert node(nested).name == "rate"
    assert node(Scorer().score).name == "score"
    assert await called(nested) == Essay(score=2)
    assert await called(Scorer().score) == Essay(score=9)


async def test_typ_14_a_wrapper_gives_on_the_coroutine_or_its_result() -> None:
    async def ask(essay: Essay, ctx: Context) -> Essay:
        return essay.replace(score=7)

    def gives_on(fn: Callable[..., Awaitable[Essay]]) -> Callable[..., Awaitable[Essay]]:
        @wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Awaitable[Essay]:
            return fn(*args, **kwargs)

        return wrapper

    def does_without(fn: Callable[..., Any]) -> Callable[..., Essay]:
        @wraps(fn)
        def wrapper(essay: Essay, ctx: Any) -> Essay:
            return essay

        return wrapper

    assert node(gives_on(ask)).name == "ask"
    assert await called(gives_on(ask)) == Essay(score=7)
    assert await called(does_without(ask)) == Essay(score=1)


async def test_typ_14_callable_objects_and_cached_functions_are_nodes() -> None:
    class Judge:
        async def __call__(self, essay: Essay) -> Essay:
            return essay.replace(score=5)

    assert await called(Judge()) == Essay(score=5)
    assert await called(lru_cache(improve)) == Essay(score=2)


@pytest.mark.parametrize("nameless", [eval("lambda essay: essay"), partial(eval("lambda essay: essay"))])
def test_typ_14_what_has_no_name_asks_for_one(nameless: Any) -> None:
    with pytest.raises(TypeError, match=r"has no name of its own: give the node one, @node\('name'\)"):
        node(nameless)


def test_typ_12_a_function_wrapped_by_a_node_still_tells_its_hints() -> None:
    better: Any = node("better")(improve)
    assert inspect.unwrap(better) is improve
    assert inspect.get_annotations(inspect.unwrap(better)) == {"essay": "Essay", "return": "Essay"}


def test_typ_05_a_generic_node_serves_the_graph_that_lists_it() -> None:
    def same(state: AnyState) -> AnyState:
        return state

    assert untyped.StateGraph(Essay).start(node("same")(same)).validate() == ()


# Wrong stackings


def test_an_edge_above_the_node_says_to_move_it_below() -> None:
    line = line_here() + 2
    with pytest.raises(TypeError) as raised:
        untyped.edge("next")(node("better")(improve))
    assert str(raised.value) == f"{at(line)}: @edge stands above the @node of 'better': move it below @node"


@pytest.mark.parametrize("mark", [boundary, boundary(), on_reject("a"), when(is_good, to="a")])
def test_any_mark_above_the_node_says_so(mark: Any) -> None:
    with pytest.raises(TypeError, match="stands above the @node of 'better': move it below @node"):
        mark(node("better")(improve))


def test_two_top_decorators_say_to_remove_one() -> None:
    line = line_here() + 2
    with pytest.raises(TypeError) as raised:
        untyped.node("again")(node("better")(improve))
    assert str(raised.value) == f"{at(line)}: <node 'better' of {at(line)}> has two top decorators: remove one @node"


def test_on_reject_without_a_boundary_says_to_add_one() -> None:
    line = line_here() + 2
    with pytest.raises(TypeError) as raised:
        node("better")(on_reject("start")(improve))
    assert str(raised.value) == f"{at(line)}: node 'better' has @on_reject and no @boundary: put @boundary above @on_reject"


@pytest.mark.parametrize(("mark", "name"), [(boundary, "boundary"), (on_reject("a"), "on_reject")])
def test_a_mark_that_can_stand_once_stands_twice(mark: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"@{name} stands twice on 'improve' \(also at .*test_decorators.py:\d+\): remove one"):
        mark(mark(improve))


def test_an_edge_without_a_target_is_found_at_once() -> None:
    with pytest.raises(
        TypeError, match=r"test_decorators.py:\d+: @edge leads to improve, which is no node: name the node, or put @node on that function"
    ):
        untyped.edge(improve)


def test_a_target_with_marks_and_no_node_says_what_it_lacks() -> None:
    with pytest.raises(TypeError, match="@when leads to <'improve' with marks, and no @node above them>: put @node on top"):
        untyped.when(is_good, to=edge("next")(improve))


@pytest.mark.parametrize("target", [3, None, ["a"]])
def test_a_target_is_a_name_or_a_node(target: Any) -> None:
    with pytest.raises(TypeError, match="@edge leads to a node or to the name of one, not to"):
        edge(target)


def test_a_name_that_no_definition_can_hold_is_refused_with_its_place() -> None:
    with pytest.raises(TypeError, match=r"test_decorators.py:\d+: the name of a node is text that UTF-8 can encode, and 'a\\ud800' has half"):
        node("a\ud800")(improve)
    with pytest.raises(TypeError, match=r"test_decorators.py:\d+: @edge leads to a node, whose name is text that UTF-8 can encode"):
        edge("a\ud800")


def test_when_without_a_guard_says_what_it_asks() -> None:
    with pytest.raises(TypeError, match=r"@when asks a function of the state first, and 'draft' is none: @when\(needs_work, to='draft'\)"):
        untyped.when("draft", to="draft")


# Functions that are no nodes


def generator(essay: Essay) -> Iterator[Essay]:
    yield essay


async def async_generator(essay: Essay) -> AsyncIterator[Essay]:
    yield essay


def no_state() -> None: ...


def only_context(ctx: Context) -> None: ...


def two_contexts(essay: Essay, ctx: Context, again: Context) -> None: ...


bare_second: Any = eval("lambda essay, ctx: essay")


def greedy(essay: Essay, more: int) -> None: ...


def keyword_state(*, essay: Essay) -> None: ...


class Writer:
    def write(self, essay: Essay) -> Essay:
        return essay


@pytest.mark.parametrize(
    ("fn", "text"),
    [
        (Essay, "a class is no node: decorate a function of the state"),
        (3, "3 is no function"),
        (generator, "a generator is no node: return the whole new state, and send text to the reader with `await ctx.token(...)`"),
        (async_generator, "a generator is no node: return the whole new state, and send text to the reader with `await ctx.token(...)`"),
        (no_state, "it takes no state: a node is a function of the state, or of the state and a parameter annotated Context"),
        (only_context, "it takes no state: a node is a function of the state, or of the state and a parameter annotated Context"),
        (keyword_state, "it takes no state: a node is a function of the state, or of the state and a parameter annotated Context"),
        (two_contexts, "'ctx' and 'again' are both annotated Context: one is enough"),
        (bare_second, "nothing fills its parameter 'ctx': annotate it `ctx: Context` if it is the context, or give it a default"),
        (
            greedy,
            "nothing fills its parameter 'more': a node takes the state, and a parameter annotated Context; bind other values with functools.partial",
        ),
        (Writer.write, "it is a method: make a node of the bound one, node('name')(instance.method)"),
    ],
)
def test_what_is_no_node_is_refused_at_the_decorator_with_its_name(fn: Any, text: str) -> None:
    line = line_here() + 2
    with pytest.raises(TypeError) as raised:
        node("n")(fn)
    assert str(raised.value) == f"{at(line)}: node 'n': {text}"


def test_inline_is_for_sync_functions() -> None:
    async def ask(essay: Essay) -> Essay:
        return essay

    assert handler(node("a", inline=True)(improve)).inline
    with pytest.raises(TypeError, match="node 'a': inline=True is for sync functions, and this one is async: it runs on the loop already"):
        node("a", inline=True)(ask)


# Listing


def test_a_function_without_node_cannot_be_listed() -> None:
    graph = untyped.StateGraph(Essay)
    with pytest.raises(TypeError, match=r"start\(\) takes nodes, and <function improve at .*> is none: put @node on it"):
        graph.start(improve)
    with pytest.raises(TypeError, match=r"nodes\(\) takes nodes, and <'improve' with marks, and no @node above them> is none: put @node on top"):
        graph.start(node(improve)).nodes(edge("a")(improve))
    with pytest.raises(TypeError, match=r"nodes\(\) takes nodes, not 'improve'"):
        graph.start(node(improve)).nodes("improve")


def test_a_node_of_another_state_cannot_be_listed() -> None:
    @node
    def post(letter: Letter) -> Letter:
        return letter

    with pytest.raises(TypeError, match=r"test_decorators.py:\d+: node 'post' is over Letter, and start\(\) of a graph over Essay was given it"):
        untyped.StateGraph(Essay).start(post)


def test_a_guard_of_another_state_is_told_where_the_node_is_listed() -> None:
    def is_long(letter: Letter) -> bool:
        return len(letter.text) > 3

    guarded = node("guarded")(untyped.when(is_long, to="better")(improve))
    text = r"test_decorators.py:\d+: node 'guarded' has a guard over Letter, 'is_long', and its graph is over Essay: give @when a function of Essay"
    with pytest.raises(TypeError, match=text):
        untyped.StateGraph(Essay).start(guarded)


def test_a_node_of_a_wider_state_may_be_listed() -> None:
    class LongEssay(Essay):
        pages: int = 0

    wider: Any = node("better")(improve)
    assert StateGraph(LongEssay).start(wider).validate() == ()


def test_a_node_may_be_in_several_graphs() -> None:
    shared: Node[Essay, Any, Any, Any] = node("better")(improve)
    graphs = [StateGraph(Essay).start(shared).compile(id=name) for name in ("first", "second")]
    assert [graph.specs["better"].body for graph in graphs] == [shared.spec.body] * 2
