"""Test of ask and approve: a question is asked once, and its answer arrives once, whatever happens to single calls."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import unittest
from typing import Any
from unittest import mock

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "src"), os.path.dirname(__file__)]

import holdpoint  # noqa: E402
from fake_server import FakeServer, answered  # noqa: E402
from holdpoint import _client  # noqa: E402


def decided(decision: Any) -> Any:
    return answered({"decisions": [decision]})


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = FakeServer()
        self.addCleanup(self.server.close)
        for name in ("HOLDPOINT_URL", "HOLDPOINT_API_KEY"):
            os.environ.pop(name, None)
        # a tenth of the pauses
        patch = mock.patch.object(_client, "BACKOFF_FIRST_S", 0.02)
        patch.start()
        self.addCleanup(patch.stop)

    def tearDown(self) -> None:
        self.assertEqual(self.server.violations, [])

    def soon(self, **end: Any) -> None:
        """Ends the first question, as a person would: after it is open."""

        def run() -> None:
            self.server.opened(1)
            self.server.end(0, **end)

        threading.Thread(target=run, daemon=True).start()

    def ask(self, payload: Any = "Deploy?", **options: Any) -> Any:
        return holdpoint.ask(payload, url=self.server.url, **options)


CHOICES = ["yes", "no"]
TROUBLES = {
    "no trouble": [],
    "a connection that closes before the question is read": ["closed"],
    "a reply that is lost after the question is stored": ["lost"],
    "a server that is full for a moment": [503, 429],
    "a fault of the server": [500, 502],
}


class Asking(ClientTest):
    def test_the_question_is_asked_once_and_its_answer_arrives(self) -> None:
        for name, faults in TROUBLES.items():
            for is_async in (False, True):
                with self.subTest(name, is_async=is_async):
                    self.server.faults[:] = faults
                    self.server.kept.clear()
                    self.soon(**answered("yes"))
                    if is_async:
                        answer = asyncio.run(holdpoint.ask_async("Deploy?", url=self.server.url, choices=CHOICES))
                    else:
                        answer = self.ask(choices=CHOICES)
                    self.assertEqual(answer, "yes")
                    bodies = [one["body"] for one in self.server.kept]
                    self.assertEqual(bodies, [{"payload": "Deploy?", "response_schema": {"enum": ["yes", "no"]}}])

    def test_a_wait_goes_on(self) -> None:
        for fault in ("closed", "cut", "lost", 503):
            with self.subTest(fault):
                self.server.kept.clear()
                self.server.calls.clear()
                self.soon(**answered({"amount": 7}))
                answer = self.ask(on_open=lambda request, fault=fault: self.server.faults.append(fault))
                self.assertEqual(answer, {"amount": 7})
                calls = [call.split("?")[0] for call in self.server.calls]
                self.assertEqual(calls, ["POST /requests", "GET /requests/r-0", "GET /requests/r-0"])

    def test_the_same_key_finds_the_question_again(self) -> None:
        def stop(request: Any) -> None:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.ask(key="deploy-1.4", on_open=stop)
        self.soon(**answered("yes"))
        self.assertEqual([self.ask(key="deploy-1.4"), self.ask(key="deploy-1.4")], ["yes", "yes"])
        with self.assertRaises(holdpoint.Refused) as refused:
            self.ask("Delete?", key="deploy-1.4")
        self.assertEqual(refused.exception.code, "request_key_reused")
        self.assertEqual(len(self.server.kept), 1)

    def test_without_a_key_each_call_asks_anew(self) -> None:
        self.server.answers = lambda body: answered("yes")
        self.assertEqual([self.ask(), self.ask()], ["yes", "yes"])
        self.assertEqual(len({one["key"] for one in self.server.kept}), 2)

    def test_options_become_members_of_the_request(self) -> None:
        self.server.answers = lambda body: answered(3)
        options = {
            "title": "Amount", "assignees": ["ann"], "review": {"approvals": 2}, "priority": "high",
            "metadata": {"order": "4711"}, "notify": False, "webhook": "https://example.com/hook",
        }
        env = {"HOLDPOINT_URL": self.server.url + "/", "HOLDPOINT_API_KEY": "secret"}
        with mock.patch.dict(os.environ, env):
            request = holdpoint.ask_request(
                {"question": "?"}, timeout=60, on_timeout=None, schema={"type": "number"}, **options
            )
        self.assertEqual(request["answered_by"], "ann")
        self.assertEqual(self.server.kept[0]["body"], {
            "payload": {"question": "?"}, "deadline": 60, "on_deadline": {"answer": None},
            "response_schema": {"type": "number"}, **options,
        })
        self.assertEqual(set(self.server.api_keys), {"secret"})

    def test_a_question_without_an_answer_raises(self) -> None:
        for status, reason in (("expired", None), ("cancelled", "too late")):
            with self.subTest(status):
                self.server.answers = lambda body, end=(status, reason): {"status": end[0], "reason": end[1]}
                with self.assertRaises(holdpoint.RequestEnded) as ended:
                    self.ask()
                self.assertEqual(ended.exception.request["status"], status)

    def test_other_refusals_are_errors_at_once(self) -> None:
        for status in (401, 403, 413, 422, 302):
            with self.subTest(status):
                self.server.calls.clear()
                self.server.faults[:] = [status]
                with self.assertRaises(holdpoint.Refused) as refused:
                    self.ask()
                with self.assertRaises(holdpoint.Refused):
                    self.ask(on_open=lambda request, status=status: self.server.faults.append(status))
                self.assertEqual((refused.exception.status, len(self.server.calls)), (status, 3))

    def test_a_server_that_never_answers_is_named(self) -> None:
        self.server.faults[:] = ["closed"] * 100
        with mock.patch.object(_client, "OPEN_PATIENCE_S", 0.1), self.assertRaises(holdpoint.Unreachable):
            self.ask()
        with self.assertRaisesRegex(ValueError, "HOLDPOINT_URL"):
            holdpoint.ask("Deploy?")

    def test_a_cancelled_wait_ends_at_once_and_its_loop_with_it(self) -> None:
        async def run() -> None:
            waiting = asyncio.ensure_future(holdpoint.ask_async("Deploy?", url=self.server.url))
            await asyncio.get_running_loop().run_in_executor(None, self.server.opened, 1)
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting

        asyncio.run(run())
        self.assertEqual(self.server.kept[0]["request"]["status"], "open")

    def test_many_waits_share_no_threads(self) -> None:
        async def run() -> Any:
            waits = [asyncio.ensure_future(holdpoint.ask_async(n, url=self.server.url)) for n in range(40)]
            await asyncio.get_running_loop().run_in_executor(None, self.server.opened, 40)
            for index in range(40):
                self.server.end(index, **answered(self.server.kept[index]["body"]["payload"]))
            return await asyncio.gather(*waits)

        self.assertEqual(asyncio.run(run()), list(range(40)))


class Approving(ClientTest):
    def refund(self, **options: Any) -> Any:
        @holdpoint.approve(url=self.server.url, **options)
        def refund(order: str, amount: float = 7, *, note: str = "") -> str:
            return f"{order}: {amount}{note}"

        return refund

    def test_the_function_runs_with_the_approved_arguments(self) -> None:
        edit = {"type": "edit", "edited_action": {"name": "refund", "args": {"order": "a", "amount": 5, "note": "!"}}}
        for decision, result in (({"type": "approve"}, "a: 7"), (edit, "a: 5!")):
            with self.subTest(decision):
                self.server.kept.clear()
                self.server.answers = lambda body, decision=decision: decided(decision)
                refund = self.refund(key=lambda order: f"refund-{order}", description="Why?")
                self.assertEqual(refund("a"), result)
                self.assertEqual(self.server.kept[0]["key"], "refund-a")
        args = {"order": "a", "amount": 7, "note": ""}
        types = {"order": {"type": "string"}, "amount": {"type": "number"}, "note": {"type": "string"}}
        schema = {"type": "object", "required": ["order"], "additionalProperties": False, "properties": types}
        config = {"action_name": "refund", "allowed_decisions": ["approve", "edit", "reject"], "args_schema": schema}
        self.assertEqual(self.server.kept[0]["body"]["payload"], {
            "action_requests": [{"name": "refund", "args": args, "description": "Why?"}],
            "review_configs": [config],
        })

    def test_a_coroutine_function_runs_after_its_approval(self) -> None:
        self.server.answers = lambda body: decided({"type": "approve"})

        @holdpoint.approve(url=self.server.url, name="drop_table")
        async def drop(table: str) -> str:
            return f"dropped {table}"

        self.assertEqual(asyncio.run(drop(table="users")), "dropped users")
        self.assertEqual(self.server.kept[0]["body"]["payload"]["action_requests"][0]["name"], "drop_table")

    def test_a_method_shows_its_arguments_alone(self) -> None:
        self.server.answers = lambda body: decided({"type": "approve"})
        url = self.server.url

        class Shop:
            @holdpoint.approve(url=url, editable=False)
            def refund(self, order: str) -> str:
                return f"{type(self).__name__} {order}"

        self.assertEqual(Shop().refund("a"), "Shop a")
        payload = self.server.kept[0]["body"]["payload"]
        self.assertEqual(payload["action_requests"], [{"name": "refund", "args": {"order": "a"}}])
        config = {"action_name": "refund", "allowed_decisions": ["approve", "reject"]}
        self.assertEqual(payload["review_configs"], [config])

    def test_a_rejected_function_does_not_run(self) -> None:
        ran = []
        reject = {"type": "reject", "message": "not today"}
        for decision, message in ((reject, "not today"), ({"type": "later"}, "drop was rejected")):
            with self.subTest(decision):
                self.server.answers = lambda body, decision=decision: decided(decision)

                @holdpoint.approve(url=self.server.url)
                def drop() -> None:
                    ran.append(1)

                with self.assertRaisesRegex(holdpoint.Rejected, message):
                    drop()
        self.assertEqual(ran, [])


if __name__ == "__main__":
    unittest.main()
