// Handler value: conversion of request members to the form of the SDK's `Auth` handlers, and back with their changes.
// Invariants:
//   handler-value.1. `metadata` is always present for create, update and search events, so that a handler can extend
//     it.
//   handler-value.2. A handler cannot change the thread or the assistant that the path or the body names.
//   handler-value.3. All other changes apply, including those to the query: a handler may move a call into another
//     namespace.
import type { AccessEvent } from "@holdpoint/api/operation.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { REQUEST_GRAPH } from "../model/built-in-assistant.ts";

export interface RequestParts {
  readonly ids: Readonly<Record<string, string>>;
  readonly query: JsonObject;
  readonly body: JsonObject;
}

/** Members of a run request that handlers receive by name; all others are in `kwargs`. */
const RUN_MEMBERS = ["thread_id", "assistant_id", "metadata", "multitask_strategy", "if_not_exists", "after_seconds"];
const NAMED = new Set(["thread_id", "assistant_id"]);
/** Event → body member that handlers see as `namespace`. */
const NAMESPACE_NAMES: Readonly<Record<string, string>> = {
  "store:search": "namespace_prefix",
  "store:list_namespaces": "prefix",
};

/** Answers and requests make a run, so they have the members of one. */
export function isRunEvent(event: string): boolean {
  return event === "threads:create_run" || event === "threads:answer" || event === "requests:create";
}

export function toAccessValue(event: AccessEvent, { ids, query, body }: RequestParts): JsonObject {
  const metadata = body["metadata"] ?? query["metadata"] ?? null;
  if (isRunEvent(event)) {
    const kwargs = Object.entries(body).filter(([name]) => !RUN_MEMBERS.includes(name));
    return {
      ...query,
      assistant_id: event === "requests:create" ? REQUEST_GRAPH : (body["assistant_id"] ?? null),
      status: "pending",
      metadata: metadata ?? {},
      prevent_insert_if_inflight: body["multitask_strategy"] === "reject",
      multitask_strategy: body["multitask_strategy"] ?? "enqueue",
      if_not_exists: body["if_not_exists"] ?? "reject",
      after_seconds: body["after_seconds"] ?? 0,
      kwargs: Object.fromEntries(kwargs),
      thread_id: body["thread_id"] ?? null,
      ...ids,
    };
  }
  const isNew = event.endsWith(":create");
  const hasMetadata =
    isNew ||
    event.endsWith(":update") ||
    event === "threads:claim" ||
    event === "requests:cancel" ||
    (event.endsWith(":search") && event !== "store:search");
  const namespace = NAMESPACE_NAMES[event];
  return {
    ...query,
    ...body,
    ...(hasMetadata ? { metadata: isNew ? (metadata ?? {}) : metadata } : {}), // handler-value.1
    ...(namespace === undefined ? {} : { namespace: body[namespace] ?? null }),
    ...ids,
  };
}

/** @param value the members as returned by the handler */
export function fromAccessValue(
  event: AccessEvent,
  parts: RequestParts,
  value: JsonObject,
): { readonly query: JsonObject; readonly body: JsonObject } {
  const { ids, query, body } = parts;
  if (isRunEvent(event)) {
    const own = pick(value, (name) => RUN_MEMBERS.includes(name) && !NAMED.has(name)); // handler-value.2
    return { query, body: { ...body, ...own, ...(value["kwargs"] as JsonObject) } };
  }
  const namespace = NAMESPACE_NAMES[event];
  const changed = { ...value, ...(namespace === undefined ? {} : { [namespace]: value["namespace"] ?? null }) };
  const isBodys = (name: string): boolean => !(name in ids) && !(name in query) && !NAMED.has(name);
  return {
    query: { ...query, ...pick(changed, (name) => name in query && !(name in ids)) },
    body: { ...body, ...pick(changed, isBodys) },
  };
}

function pick(value: JsonObject, wanted: (name: string) => boolean): Record<string, Json> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => wanted(name)));
}
