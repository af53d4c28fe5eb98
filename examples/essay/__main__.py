"""Write two essays: one is read while it is written and signed off, one never gets good enough."""

from __future__ import annotations

import asyncio
import sys

from examples.essay.essays import Essay, essays
from strata import Committed, Completed, HopLimitExceeded, Interrupted, NodeStarted, Outcome, Runner, Token
from strata.stores.sqlite import SqliteStore


async def main(database: str) -> None:
    async with SqliteStore(database) as store:
        runner = Runner(essays, store)

        async with runner.stream("rivers", Essay(topic="rivers", min_score=8)) as events:
            async for event in events:
                match event:
                    case NodeStarted(node=name):
                        print(f"{name}: ", end="")
                    case Token(text=text):
                        print(text, end="")
                    case Committed(record=number):
                        print(f"(record {number})")
                    case _:
                        pass
        print(told(events.outcome))
        print(told(await runner.resume("rivers", essays.approve("editor"))))

        print(told(await runner.run("lakes", Essay(topic="lakes", min_score=100))))
        print(told(await runner.resume("lakes", essays.amend("editor").override(min_score=30), max_node_hops=30)))


def told(outcome: Outcome[Essay]) -> str:
    match outcome:
        case Completed(essay):
            return f"=> published '{essay.text}' with a score of {essay.score}, signed off by {essay.signed_by}"
        case Interrupted(essay, waiting_at=path):
            return f"=> {outcome.thread_id} waits at {'/'.join(path)}: score {essay.score} in revision {essay.revision}"
        case HopLimitExceeded(node=name, hops=hops):
            return f"=> {outcome.thread_id} was stopped before {name}, after {hops} hops"
        case _:
            return f"=> {outcome}"


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
