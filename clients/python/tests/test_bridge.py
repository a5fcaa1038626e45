"""Test of bridge: interrupts of a LangGraph graph become questions, once each, and the answers resume the graph.

The first half runs on a fake with the interface of a compiled graph, the second on LangGraph, where it is installed.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
import types
import unittest
from typing import Any, Callable, Dict, List
from unittest import mock

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "src"), os.path.dirname(__file__)]

import holdpoint  # noqa: E402
from fake_server import FakeServer, answered  # noqa: E402

try:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import StateGraph
    from langgraph.types import interrupt

    LANGGRAPH = True
except ImportError:
    LANGGRAPH = False

CONFIG = {"configurable": {"thread_id": "order-4711"}}


class Paused(Exception):
    pass


@dataclasses.dataclass
class Command:
    resume: Dict[str, Any]


class FakeGraph:
    """Nodes one after the other, on a store that outlives the program.

    As in LangGraph, the id of an interrupt is that of its node's task, a node starts again from its top, and the
    answers that it has used are writes of the checkpoint once it asks again.
    """

    def __init__(self, store: Dict[str, Any], nodes: List[Callable[..., Any]]) -> None:
        self.store = store
        self.nodes = nodes
        self.checkpointer = self
        self.inputs: List[Any] = []

    def get_state(self, config: Any, subgraphs: bool = False) -> Any:
        assert subgraphs
        store = self.store
        place = {**config["configurable"], "checkpoint_ns": "", "checkpoint_id": str(store.get("step"))}
        names = [one.__name__ for one in self.nodes[store["step"]:]] if "step" in store else []
        interrupts = [types.SimpleNamespace(id=f"i-{store['step']}", value=one) for one in store.get("open", [])]
        task = types.SimpleNamespace(id="task", interrupts=interrupts, state=None)
        config = {"configurable": place}
        return types.SimpleNamespace(values=store.get("values", {}), next=tuple(names[:1]), tasks=[task], config=config)

    def get_tuple(self, config: Any) -> Any:
        return types.SimpleNamespace(pending_writes=[("task", "__resume__", list(self.store.get("used", [])))])

    def invoke(self, input: Any, config: Any) -> Any:
        self.inputs.append(input)
        store = self.store
        used = list(store.get("used", []))
        if isinstance(input, Command):
            used.append(input.resume[f"i-{store['step']}"])
        elif input is not None:
            store.update(values=dict(input), step=0, used=[], open=[])
            used = []
        while store["step"] < len(self.nodes):
            given = iter(used)

            def ask(value: Any) -> Any:
                for answer in given:
                    return answer
                store.update(used=used, open=[value])
                raise Paused

            try:
                update = self.nodes[store["step"]](store["values"], ask)
            except Paused:
                return store["values"]
            store["values"] = {**store["values"], **update}
            store.update(step=store["step"] + 1, used=[], open=[])
            used = []
        return store["values"]

    async def aget_state(self, config: Any, subgraphs: bool = False) -> Any:
        return self.get_state(config, subgraphs)

    async def aget_tuple(self, config: Any) -> Any:
        return self.get_tuple(config)

    async def ainvoke(self, input: Any, config: Any) -> Any:
        return self.invoke(input, config)


def twice(state: Any, ask: Any) -> Any:
    """The same question until the answer is a number."""
    answers = []
    while not answers or not isinstance(answers[-1], int):
        answers.append(ask({"question": "How much?"}))
    return {"answers": answers}


def confirm(state: Any, ask: Any) -> Any:
    return {"sure": ask("Sure?")}


class BridgeTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = FakeServer()
        self.addCleanup(self.server.close)
        self.store: Dict[str, Any] = {}
        self.given = ["much", 7, "yes"]
        module = types.ModuleType("langgraph.types")
        module.Command = Command  # type: ignore[attr-defined]
        patch = mock.patch.dict(sys.modules, {"langgraph": types.ModuleType("langgraph"), "langgraph.types": module})
        patch.start()
        self.addCleanup(patch.stop)
        self.server.answers = lambda body: answered(self.given[len(self.server.kept) - 1])

    def start(self, **options: Any) -> "tuple[FakeGraph, Any]":
        graph = FakeGraph(self.store, [twice, confirm])
        return graph, holdpoint.bridge(graph, url=self.server.url, **options)

    def killed_at(self, count: int) -> None:
        """The program ends as soon as its question is open for the time `count`."""
        opened: List[Any] = []

        def on_open(request: Any) -> None:
            opened.append(request)
            if len(opened) == count:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.start(on_open=on_open)[1].invoke({"order": 1}, CONFIG)

    RESULT = {"order": 1, "answers": ["much", 7], "sure": "yes"}

    def test_each_interrupt_is_one_question_and_the_graph_ends_with_the_answers(self) -> None:
        graph, app = self.start(metadata={"team": "shop"})
        self.assertEqual(app.invoke({"order": 1}, CONFIG), self.RESULT)
        bodies = [one["body"] for one in self.server.kept]
        metadata = {"thread": "order-4711", "team": "shop"}
        how_much = {"payload": {"question": "How much?"}, "metadata": metadata}
        self.assertEqual(bodies, [how_much, how_much, {"payload": "Sure?", "metadata": metadata}])
        self.assertEqual(len({one["key"] for one in self.server.kept}), 3)

    def test_asyncio_does_the_same(self) -> None:
        _, app = self.start()
        self.assertEqual(asyncio.run(app.ainvoke({"order": 1}, CONFIG)), self.RESULT)
        self.assertEqual(len(self.server.kept), 3)

    def test_a_program_that_is_killed_at_any_question_goes_on_with_it(self) -> None:
        for count in (1, 2, 3):
            with self.subTest(count):
                self.store.clear()
                self.server.kept.clear()
                self.killed_at(count)
                graph, app = self.start()
                self.assertEqual(app.invoke({"order": 1}, CONFIG), self.RESULT)
                self.assertEqual(len(self.server.kept), 3)
                self.assertTrue(all(isinstance(one, Command) for one in graph.inputs), graph.inputs)

    def test_a_program_that_is_killed_inside_a_node_goes_on_with_the_same_answer(self) -> None:
        def die(state: Any, ask: Any) -> Any:
            ask("Sure?")
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            holdpoint.bridge(FakeGraph(self.store, [twice, die]), url=self.server.url).invoke({"order": 1}, CONFIG)
        _, app = self.start()
        self.assertEqual(app.invoke({"order": 1}, CONFIG), self.RESULT)
        self.assertEqual(len(self.server.kept), 3)

    def test_a_program_that_is_killed_between_nodes_continues_without_a_second_input(self) -> None:
        self.store.update(values={"order": 1, "answers": ["much", 7]}, step=1, used=[], open=[])
        self.given = ["yes"]
        graph, app = self.start()
        self.assertEqual(app.invoke({"order": 1}, CONFIG), self.RESULT)
        self.assertIsNone(graph.inputs[0])

    def test_an_ended_thread_takes_the_next_input(self) -> None:
        _, app = self.start()
        app.invoke({"order": 1}, CONFIG)
        self.server.kept.clear()
        self.assertEqual(app.invoke({"order": 2}, CONFIG)["order"], 2)

    def test_data_classes_become_objects(self) -> None:
        @dataclasses.dataclass
        class Refund:
            amount: int

        def ask_refund(state: Any, ask: Any) -> Any:
            return {"sure": ask({"refund": Refund(7), "tags": ("a",)})}

        holdpoint.bridge(FakeGraph(self.store, [ask_refund]), url=self.server.url).invoke({}, CONFIG)
        self.assertEqual(self.server.kept[0]["body"]["payload"], {"refund": {"amount": 7}, "tags": ["a"]})


@unittest.skipUnless(LANGGRAPH, "the package langgraph is not installed")
class LangGraphTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = FakeServer()
        self.addCleanup(self.server.close)
        self.saver = InMemorySaver()
        given = {"How much?": ["much", 7], "Sure?": ["yes"], "Really?": ["no"]}
        asked: List[str] = []

        def answer(body: Any) -> Any:
            asked.append(body["payload"])
            return answered(given[body["payload"]][asked.count(body["payload"]) - 1])

        self.server.answers = answer

    def start(self, **options: Any) -> Any:
        def amount(state: Any) -> Any:
            answer = interrupt("How much?")
            while not isinstance(answer, int):
                answer = interrupt("How much?")
            return {"amount": answer}

        def really(state: Any) -> Any:
            return {"really": interrupt("Really?")}

        inner = StateGraph(State).add_node("really", really).add_edge("__start__", "really").compile()
        graph = StateGraph(State).add_node("amount", amount).add_node("inner", inner)
        graph.add_node("sure", lambda state: {"sure": interrupt("Sure?")})
        graph.add_edge("__start__", "amount").add_edge("amount", "sure").add_edge("amount", "inner")
        return holdpoint.bridge(graph.compile(checkpointer=self.saver), url=self.server.url, **options)

    RESULT = {"amount": 7, "sure": "yes", "really": "no"}

    def test_loops_branches_and_subgraphs_ask_each_question_once(self) -> None:
        self.assertEqual(self.start().invoke({"amount": 0}, CONFIG), self.RESULT)
        self.assertEqual(len(self.server.kept), 4)

    def test_a_program_that_is_killed_at_any_question_goes_on_with_it(self) -> None:
        for count in (1, 2, 3, 4):
            config = {"configurable": {"thread_id": f"order-{count}"}}
            opened: List[Any] = []

            def on_open(request: Any, opened: List[Any] = opened, count: int = count) -> None:
                opened.append(request)
                if len(opened) == count:
                    raise KeyboardInterrupt

            with self.subTest(count):
                self.setUp()
                with self.assertRaises(KeyboardInterrupt):
                    self.start(on_open=on_open).invoke({"amount": 0}, config)
                self.assertEqual(self.start().invoke({"amount": 0}, config), self.RESULT)
                self.assertEqual(len(self.server.kept), 4)


if LANGGRAPH:
    from typing_extensions import TypedDict

    class State(TypedDict, total=False):
        amount: int
        sure: str
        really: str


if __name__ == "__main__":
    unittest.main()
