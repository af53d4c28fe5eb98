"""Readings of a weather station: parsed, joined with where the station stands, and summed up."""

from __future__ import annotations

import time
from statistics import mean

from strata import Context, FatalError, State, StateGraph, edge, node


class Report(State):
    station: str
    lines: tuple[str, ...]
    readings: tuple[float, ...] = ()
    city: str = ""
    text: str = ""


class Directory:
    """A slow service: `delay` seconds for an answer."""

    def __init__(self, cities: dict[str, str], *, delay: float) -> None:
        self.cities, self.delay = cities, delay

    def city_of(self, station: str) -> str:
        time.sleep(self.delay)
        return self.cities[station]


@node(inline=True)  # quick and never blocks: no thread is worth it
@edge("locate")
def parse(report: Report) -> Report:
    try:
        return report.replace(readings=tuple(float(line) for line in report.lines))
    except ValueError as error:
        raise FatalError(f"station {report.station} sent no number: {error}") from None


@node(timeout=0.2)  # seconds; a function that blocks is called on a worker thread, and given up there
@edge("summarize")
def locate(report: Report, ctx: Context) -> Report:
    directory = ctx.service(Directory)
    if directory is None:
        raise FatalError("locate needs a Directory: Runner(..., services=[Directory(...)])")
    return report.replace(city=directory.city_of(report.station))


@node
def summarize(report: Report) -> Report:
    return report.replace(text=f"{report.city}: {len(report.readings)} readings, {mean(report.readings):.1f} degrees on average")


# Nothing is recorded while all goes well: a record is written only where a run stops.
pipeline = StateGraph(Report).start(parse).nodes(locate, summarize).compile(id="pipeline", durable=False)
