"""A list of companies, each looked up by a graph of its own, several at a time."""

from __future__ import annotations

from examples.batch_enrich.register import Register
from strata import Context, FatalError, Outcomes, State, StateGraph, edge, map_each, node


class Company(State):
    name: str
    city: str = ""
    label: str = ""


@node
@edge("describe")
async def look_up(company: Company, ctx: Context) -> Company:
    register = ctx.service(Register)
    if register is None:
        raise FatalError("look_up needs a Register: Runner(..., services=[Register(...)])")
    # When the process dies and the map runs again, this company has the same key: the register is not paid twice.
    return company.replace(city=await register.city_of(company.name, key=ctx.idempotency_key))


@node(inline=True)
def describe(company: Company) -> Company:
    return company.replace(label=f"{company.name} of {company.city}")


one_company = StateGraph(Company).start(look_up).nodes(describe).compile(id="company")


class Batch(State):
    names: tuple[str, ...]
    labels: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@node
@edge("enrich")
def clean(batch: Batch) -> Batch:
    return batch.replace(names=tuple(name.strip().lower() for name in batch.names))


def names(batch: Batch) -> tuple[str, ...]:
    return batch.names


def company_of(batch: Batch, name: str) -> Company:
    return Company(name=name)


# One that fails is no reason to throw the others away.
@map_each(one_company, items=names, key=str, enter=company_of, max_concurrency=3, partial="keep_succeeded")
def enrich(batch: Batch, outcomes: Outcomes[Company]) -> Batch:
    return batch.replace(
        labels=tuple(company.label for company in outcomes.succeeded),
        missing=tuple(outcome.name for outcome in outcomes if outcome.status != "succeeded"),
    )


batches = StateGraph(Batch).start(clean).nodes(enrich).compile(id="batches", version="1")
