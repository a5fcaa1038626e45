"""Bridge: the interrupts of a LangGraph graph become questions to people, and their answers resume the graph.

Rules:
  bridge.1. The key of a question names its place: thread, checkpoint, interrupt, and the number of answers that its
       node has used. A restarted program therefore finds its question, and a node that asks twice asks two questions.
  bridge.2. A graph that has stopped in the middle continues; a thread at a question gets no second input.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._client import Question, prepare, read_answer

RESUME = "__resume__"


class _Place(NamedTuple):
    interrupt: Any
    #: Of the checkpoint with the interrupt.
    config: Any
    task_id: str


def bridge(graph: Any, **options: Any) -> "Bridge":
    """Wraps a compiled graph with a checkpointer; the options are those of `ask_request`, but `key`.

        app = bridge(graph)
        result = app.invoke({"order": 4711}, {"configurable": {"thread_id": "order-4711"}})

    `invoke` returns when the graph has ended, through all of its interrupts. Start the program again with the same
    thread, and it goes on where it was.
    """
    return Bridge(graph, options)


class Bridge:
    def __init__(self, graph: Any, options: Dict[str, Any]) -> None:
        self._graph = graph
        self._options = options

    def invoke(self, input: Any, config: Any, **kwargs: Any) -> Any:
        """Runs the graph to its end. An input of None only continues the thread. Raises what `ask` raises."""
        graph = self._graph
        state = graph.get_state(config, subgraphs=True)
        result = state.values
        places = list(_find_places(state))
        if not places:
            result = graph.invoke(self._first_input(state, input), config, **kwargs)
            places = list(_find_places(graph.get_state(config, subgraphs=True)))
        while places:
            questions = [self._question(place, self._count(place)) for place in places]
            opened = [(one, one.server.run(one.open())) for one in questions]
            answers = [read_answer(one.server.run(one.end(request))) for one, request in opened]
            result = graph.invoke(_resume(places, answers), config, **kwargs)
            places = list(_find_places(graph.get_state(config, subgraphs=True)))
        return result

    async def ainvoke(self, input: Any, config: Any, **kwargs: Any) -> Any:
        """As `invoke`, for asyncio."""
        graph = self._graph
        state = await graph.aget_state(config, subgraphs=True)
        result = state.values
        places = list(_find_places(state))
        if not places:
            result = await graph.ainvoke(self._first_input(state, input), config, **kwargs)
            places = list(_find_places(await graph.aget_state(config, subgraphs=True)))
        while places:
            questions = [self._question(place, await self._acount(place)) for place in places]
            opened = [(one, await one.server.run_async(one.open())) for one in questions]
            answers = [read_answer(await one.server.run_async(one.end(request))) for one, request in opened]
            result = await graph.ainvoke(_resume(places, answers), config, **kwargs)
            places = list(_find_places(await graph.aget_state(config, subgraphs=True)))
        return result

    def _first_input(self, state: Any, input: Any) -> Any:
        """bridge.2. A graph with breakpoints stops in the middle on purpose: its caller decides."""
        graph = self._graph
        breakpoints = [getattr(graph, f"interrupt_{when}_nodes", ()) for when in ("before", "after")]
        return None if state.next and not any(breakpoints) else input

    def _question(self, place: _Place, used: int) -> Question:
        configurable = place.config["configurable"]
        value = _plain(place.interrupt.value)
        schema = getattr(place.interrupt, "response_schema", None)
        where = [
            str(configurable["thread_id"]),
            configurable.get("checkpoint_ns", ""),
            configurable.get("checkpoint_id", ""),
            place.interrupt.id,
            used,
            value,
        ]
        options = {**self._options}
        options["metadata"] = {"thread": str(configurable["thread_id"]), **(options.get("metadata") or {})}
        if isinstance(schema, dict):
            options.setdefault("schema", schema)
        digest = hashlib.sha256(json.dumps(where, sort_keys=True).encode()).hexdigest()
        return prepare(value, **{**options, "key": f"langgraph-{digest}"})

    def _count(self, place: _Place) -> int:
        checkpointer = getattr(self._graph, "checkpointer", None)
        found = checkpointer.get_tuple(place.config) if hasattr(checkpointer, "get_tuple") else None
        return _count_answers(found, place.task_id)

    async def _acount(self, place: _Place) -> int:
        checkpointer = getattr(self._graph, "checkpointer", None)
        found = await checkpointer.aget_tuple(place.config) if hasattr(checkpointer, "aget_tuple") else None
        return _count_answers(found, place.task_id)


def _find_places(state: Any) -> Iterator[_Place]:
    """The open interrupts of a thread, each once, in the innermost graph that has it."""
    for task in state.tasks:
        inner = getattr(task, "state", None)
        if getattr(inner, "tasks", None):
            yield from _find_places(inner)
            continue
        for interrupt in task.interrupts:
            yield _Place(interrupt, state.config, task.id)


def _count_answers(checkpoint: Optional[Any], task_id: str) -> int:
    writes: List[Tuple[str, str, Any]] = (checkpoint.pending_writes or []) if checkpoint is not None else []
    for owner, channel, value in writes:
        if owner == task_id and channel == RESUME:
            return len(value) if isinstance(value, list) else 1
    return 0


def _resume(places: List[_Place], answers: List[Any]) -> Any:
    from langgraph.types import Command

    return Command(resume={place.interrupt.id: answer for place, answer in zip(places, answers)})


def _plain(value: Any) -> Any:
    """As JSON: models and data classes become objects."""

    def convert(one: Any) -> Any:
        if hasattr(one, "model_dump"):
            return one.model_dump(mode="json")
        if dataclasses.is_dataclass(one):
            return dataclasses.asdict(one)
        if isinstance(one, (set, frozenset, tuple)):
            return list(one)
        return str(one)

    return json.loads(json.dumps(value, default=convert))
