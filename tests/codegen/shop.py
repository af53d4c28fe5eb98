"""A project of tools that has what makes generated code hard to write."""

from __future__ import annotations

from typing import Final

SHOP: Final = {
    "shop/models.py": """
        from __future__ import annotations

        from dataclasses import dataclass, field
        from enum import Enum
        from typing import Annotated, Literal, NamedTuple, NotRequired, TypeAlias, TypedDict

        from msgspec import Meta, Struct

        MOST = 50
        _Mode: TypeAlias = Literal["fast", "deep"]
        Quoted: TypeAlias = "list[Item]"
        Cents = Annotated[int, Meta(ge=0, le=MOST * 100), "in cents"]


        class Color(Enum):
            RED = "red"
            BLUE = "blue"


        @dataclass
        class Item:
            sku: str
            color: Color = Color.RED
            parts: list[Item] = field(default_factory=list["Item"])


        class Order(Struct, frozen=True, kw_only=True):
            class Line(Struct, frozen=True):
                sku: str
                count: int = 1

            lines: list[Line] = []


        class Options(TypedDict):
            loud: NotRequired[bool]


        class Point(NamedTuple):
            x: float
            y: float = 0.0


        class _Hidden(Struct, tag=True):
            depth: int = 0


        class Shown(Struct, tag=True):
            height: int = 0
        """,
    "shop/near.py": """
        from .models import Color as Colour
        from .models import Item, Order, Shown

        __all__ = ["Colour", "Item", "Order", "Shown"]
        """,
    "shop/tools.py": """
        from __future__ import annotations

        import datetime
        import datetime as dt
        import uuid
        from collections.abc import AsyncIterator
        from typing import TYPE_CHECKING, Annotated, Any, Optional, Union

        import msgspec
        from msgspec import Meta

        from strata import Context, ToolContext, strata_tool

        from . import models
        from .models import MOST, Cents, Item, Point, Quoted, _Hidden, _Mode
        from .near import *

        if TYPE_CHECKING:
            from anyio import Event

        marker = object()


        @strata_tool("orders.find")
        async def find(
            query: Annotated[str, "What to look for", marker, lambda text: text],
            datetime: Optional[datetime.date] = None,
            list: list[str] | None = None,
            str: str = "text",
            limit: Annotated[int, Meta(ge=1, le=MOST)] = 2 * 5,
            *,
            ctx: ToolContext,
        ) -> list[Order]:
            \"\"\"Find orders.

            With "quotes", a \\\\ and
            more than one line.

            Args:
                str: some text
            \"\"\"
            return [models.Order(lines=[models.Order.Line(query, limit)])]


        @strata_tool("météo/now")
        def weather(at: Point = Point(1.0), when: dt.datetime = dt.datetime(2020, 1, 2), hidden: _Hidden | Shown = _Hidden(1)) -> str:
            "Tell the weather."
            return f"{at.x} {when.year} {type(hidden).__name__}"


        @strata_tool("orders.refund", approve=True, forbid_unknown_fields=True)
        async def refund(order_id: uuid.UUID, amount: Cents, mode: _Mode = "fast", tags: list[str] = ["a"], notes: dict[str, str] = {}) -> bool:
            "Refund an order."
            tags.append("changed")
            return len(tags) == 2


        @strata_tool
        def place(
            items: Quoted,
            line: models.Order.Line,
            options: "models.Options",
            color: Colour = Colour.BLUE,
            first: Item = Item("a"),
            class_: bool = False,
            also: list[int] = msgspec.field(default_factory=list),
            import_: Union[int, float, None] = None,
        ) -> Item | None:
            "Place an order."
            return None if class_ else Item(items[0].sku, color)


        @strata_tool
        def event(n: int) -> Event:
            "Give what no schema knows."
            raise NotImplementedError


        @strata_tool
        async def pieces(n: int) -> AsyncIterator[str]:
            "Give pieces."
            for number in range(n):
                yield "ab"[number]


        @strata_tool("any_call")
        def nothing() -> None:
            "Do nothing."


        @strata_tool
        def anything(value: Any = None, node: Context | None = None) -> Any:
            "Give it back."
            return value


        @strata_tool("")
        def nameless() -> int:
            "It has no name."
            return 1
        """,
}
