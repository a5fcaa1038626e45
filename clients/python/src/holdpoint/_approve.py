"""Approvals: calls of functions that a person approves, edits or rejects."""

from __future__ import annotations

import functools
import inspect
import typing
from inspect import Parameter
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple, Union

from ._client import ask, ask_async

#: The JSON types of annotations that edited arguments are checked for.
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


class Rejected(Exception):
    """A person rejected the call; the message is theirs."""


class Decision(NamedTuple):
    approved: bool
    #: The arguments to act with: edited ones if the person changed them.
    args: Dict[str, Any]
    edited: bool
    #: Of a rejection.
    message: Optional[str]


def decide(action: str, args: Mapping[str, Any], **options: Any) -> Decision:
    """Lets a person approve, edit or reject a call of `action`.

    Options: `description` (Markdown), `dangerous`, `editable` (True), `args_schema` (JSON Schema of edited arguments),
    and those of `ask_request`.
    """
    payload, rest = _payload(action, args, **options)
    return _read(action, args, ask(payload, **rest))


async def decide_async(action: str, args: Mapping[str, Any], **options: Any) -> Decision:
    """As `decide`, for asyncio."""
    payload, rest = _payload(action, args, **options)
    return _read(action, args, await ask_async(payload, **rest))


def approve(
    function: Optional[Callable[..., Any]] = None,
    *,
    name: Optional[str] = None,
    key: Union[str, Callable[..., str], None] = None,
    **options: Any,
) -> Any:
    """Decorates a function, or a coroutine function: each call waits for a person, then runs with approved arguments.

    `key` is a text, or a function of the same arguments. After a crash between the answer and the end of the function,
    the same key runs it again without asking. Raises Rejected if the person rejects.

        @approve(key=lambda order, amount: f"refund-{order}")
        def refund(order: str, amount: float): ...
    """
    if function is None:
        return functools.partial(approve, name=name, key=key, **options)
    signature = inspect.signature(function)
    action = name or function.__name__
    shown = [one for one in signature.parameters if one not in ("self", "cls")]
    options.setdefault("args_schema", _schema(function, signature, shown))

    def bind(args: Any, kwargs: Any) -> Tuple[inspect.BoundArguments, Dict[str, Any], Dict[str, Any]]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        named = {one: bound.arguments[one] for one in shown}
        own = dict(options, key=key(*args, **kwargs) if callable(key) else key)
        return bound, named, own

    def use(bound: inspect.BoundArguments, decision: Decision) -> inspect.BoundArguments:
        if not decision.approved:
            raise Rejected(decision.message)
        for one, value in decision.args.items():
            if one not in shown:
                raise TypeError(f"{action}() has no argument {one!r}")
            bound.arguments[one] = value
        return bound

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def approved_async(*args: Any, **kwargs: Any) -> Any:
            bound, named, own = bind(args, kwargs)
            used = use(bound, await decide_async(action, named, **own))
            return await function(*used.args, **used.kwargs)

        return approved_async

    @functools.wraps(function)
    def approved(*args: Any, **kwargs: Any) -> Any:
        bound, named, own = bind(args, kwargs)
        used = use(bound, decide(action, named, **own))
        return function(*used.args, **used.kwargs)

    return approved


def _payload(
    action: str,
    args: Mapping[str, Any],
    *,
    description: Optional[str] = None,
    dangerous: bool = False,
    editable: bool = True,
    args_schema: Optional[Mapping[str, Any]] = None,
    **rest: Any,
) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    request: Dict[str, Any] = {"name": action, "args": dict(args)}
    if description is not None:
        request["description"] = description
    if dangerous:
        request["dangerous"] = True
    config: Dict[str, Any] = {
        "action_name": action,
        "allowed_decisions": ["approve", "edit", "reject"] if editable else ["approve", "reject"],
    }
    if editable and args_schema is not None:
        config["args_schema"] = args_schema
    return {"action_requests": [request], "review_configs": [config]}, rest


def _read(action: str, args: Mapping[str, Any], answer: Any) -> Decision:
    (decision,) = answer["decisions"]
    if decision["type"] == "approve":
        return Decision(True, dict(args), False, None)
    if decision["type"] == "edit":
        return Decision(True, decision["edited_action"]["args"], True, None)
    return Decision(False, {}, False, decision.get("message") or f"{action} was rejected")


def _schema(function: Callable[..., Any], signature: inspect.Signature, shown: "list[str]") -> Dict[str, Any]:
    """What the signature says about arguments."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # names that exist for type checkers only
        hints = {}
    kinds = {one: _TYPES.get(typing.get_origin(hints.get(one)) or hints.get(one)) for one in shown}
    named = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    parameters = {one: signature.parameters[one] for one in shown}
    required = [name for name, one in parameters.items() if one.default is Parameter.empty and one.kind in named]
    return {
        "type": "object",
        "properties": {one: {} if kind is None else {"type": kind} for one, kind in kinds.items()},
        "required": required,
        "additionalProperties": False,
    }
