"""Durable questions to people, over a Holdpoint server. Needs the standard library only.

    from holdpoint import ask

    answer = ask("Deploy 1.4 to production?", choices=["yes", "no"], key="deploy-1.4")
"""

from ._approve import Decision, Rejected, approve, decide, decide_async
from ._bridge import bridge
from ._client import Refused, RequestEnded, Unreachable, ask, ask_async, ask_request, ask_request_async

__all__ = [
    "Decision",
    "Refused",
    "Rejected",
    "RequestEnded",
    "Unreachable",
    "approve",
    "ask",
    "ask_async",
    "ask_request",
    "ask_request_async",
    "bridge",
    "decide",
    "decide_async",
]
