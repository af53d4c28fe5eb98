"""What the tools work on; yours is a database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Status(Enum):
    PAID = "paid"
    SENT = "sent"
    PAID_BACK = "paid_back"


@dataclass(frozen=True)
class Order:
    id: str
    article: str
    cents: int
    status: Status


class Shop:
    def __init__(self) -> None:
        self._orders = {
            "ann": [Order("o-1", "lamp", 2490, Status.SENT), Order("o-2", "tea", 390, Status.SENT)],
            "ben": [Order("o-3", "chair", 8900, Status.PAID)],
        }

    def orders_of(self, customer: str) -> list[Order]:
        return self._orders.get(customer, [])

    def pay_back(self, order_id: str, cents: int) -> Order:
        """Raises LookupError: there is no such order."""
        for orders in self._orders.values():
            for place, order in enumerate(orders):
                if order.id == order_id:
                    print(f"[the shop pays {cents} cents back for {order_id}]")
                    orders[place] = replace(order, status=Status.PAID_BACK)
                    return orders[place]
        raise LookupError(f"there is no order {order_id}")
