"""States as a user declares and changes them."""

from __future__ import annotations

import operator
from typing import Annotated, Any, Generic, TypeVar

import msgspec
import pytest

from strata.graph.reducers import reduced, reducers_of
from strata.graph.state import State, StateMeta, replace_hint

T = TypeVar("T")


class Essay(State):
    min_score: int
    revision: int = 0
    title: str | None = None


class LongEssay(Essay, tag=True):
    chapters: list[str] = reduced(operator.add, default_factory=list)


class Renamed(State, rename="camel", forbid_unknown_fields=True):
    min_score: int


class Page(State, Generic[T]):
    items: list[T]


class Notes(State):
    first: Annotated[list[str], operator.add]
    second: Annotated[int, msgspec.Meta(ge=0)] = 0
    third: list[str] = reduced(operator.add, default_factory=list)
    fourth: int = reduced(max, default=1)
    fifth: int = reduced(max)


def made(name: str = "Made", annotations: dict[str, Any] | None = None, **options: Any) -> StateMeta:
    return StateMeta(name, (State,), {"__annotations__": annotations or {"count": int}, "__module__": __name__}, **options)


def test_replace_gives_another_state_and_leaves_the_first() -> None:
    essay = Essay(min_score=8)
    assert essay.replace(revision=2) == Essay(min_score=8, revision=2)
    assert essay.revision == 0


def test_a_state_cannot_be_changed() -> None:
    essay = Essay(min_score=8)
    with pytest.raises(AttributeError):
        essay.revision = 3  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def test_replace_of_an_unknown_field_names_it_and_the_hint_says_what_was_meant() -> None:
    changes: dict[str, Any] = {"revison": 2}
    with pytest.raises(TypeError, match="`Essay` has no field 'revison'") as caught:
        Essay(min_score=8).replace(**changes)
    assert replace_hint(caught.value, Essay) == "Essay has no field 'revison': did you mean 'revision'?"


def test_the_hint_is_silent_on_other_type_errors() -> None:
    assert replace_hint(TypeError("unsupported operand"), Essay) is None


def test_a_required_field_may_follow_one_with_a_default() -> None:
    assert LongEssay(min_score=1).chapters == []


def test_options_of_structs_work() -> None:
    assert msgspec.json.encode(Renamed(min_score=1)) == b'{"minScore":1}'
    assert msgspec.json.encode(LongEssay(min_score=1))[:19] == b'{"type":"LongEssay"'
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.json.decode(b'{"minScore":1,"other":2}', type=Renamed)


def test_generic_states_work() -> None:
    page = Page[int](items=[1])
    assert page.replace(items=[2]).items == [2]


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("replace", "rename the field to 'replace_'"),
        ("write", "rename the field to 'write_'"),
        ("__secret__", "rename '__secret__' to 'secret'"),
        ("_Made__secret", "rename '__secret' to 'secret'"),
    ],
)
def test_names_that_a_state_cannot_have_are_refused_with_another(field: str, says: str) -> None:
    with pytest.raises(TypeError) as caught:
        made(annotations={field: int})
    assert says in str(caught.value)


def test_stored_names_of_the_engine_are_refused() -> None:
    with pytest.raises(TypeError, match=r"rename '\$count' to 'count'"):
        made(rename={"count": "$count"})


@pytest.mark.parametrize(("option", "says"), [({"frozen": False}, "remove frozen=False"), ({"array_like": True}, "remove array_like=True")])
def test_options_that_make_no_state_are_refused(option: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        made(**option)


def test_reducers_are_found_in_both_spellings() -> None:
    assert reducers_of(Notes) == {"first": operator.add, "third": operator.add, "fourth": max, "fifth": max}


def test_reducers_are_inherited() -> None:
    class Longer(LongEssay):
        pages: int = reduced(max, default=0)

    assert reducers_of(Longer) == {"chapters": operator.add, "pages": max}
    assert reducers_of(Essay) == {}


def test_a_reduced_field_is_a_field_like_others() -> None:
    notes = Notes(first=[], fifth=5)
    assert (notes.third, notes.fourth, notes.fifth) == ([], 1, 5)
    with pytest.raises(TypeError, match="fifth"):
        Notes(first=[])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def test_reduced_wants_a_function() -> None:
    default: Any = []
    with pytest.raises(TypeError, match="takes the function"):
        reduced(default)


def test_mig_09_defaults_are_made_anew_for_each_state() -> None:
    first, second = LongEssay(min_score=1), LongEssay(min_score=1)
    assert first.chapters is not second.chapters
