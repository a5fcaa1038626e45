// Every member that the official Python client 0.4.5 can send: recorded from its synchronous client, each method called
// with all of its options. Each is one that the operation takes, or is named here with the reason.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as z from "zod";
import type { AnyOperation } from "@holdpoint/api/operation.ts";
import { everyOperation } from "../../project/operations.ts";

const NOT_TAKEN: Readonly<Record<string, string>> = {
  langsmith_tracer: "a row of docs/how-to/migrate.md",
  raise_error:
    "the asynchronous client acts on it; the synchronous one sends it, and `langgraphjs dev` does not read it",
};

/** Members of the query, and of the body. */
const SENT: readonly (readonly [call: string, query: string, body: string])[] = [
  ["post /assistants", "", "assistant_id config context description graph_id if_exists metadata name"],
  ["post /assistants/count", "", "graph_id metadata name"],
  ["post /assistants/search", "", "graph_id limit metadata name offset select sort_by sort_order"],
  ["delete /assistants/{}", "delete_threads", ""],
  ["patch /assistants/{}", "", "config context description graph_id metadata name"],
  ["get /assistants/{}/graph", "xray", ""],
  ["post /assistants/{}/latest", "", "version"],
  ["get /assistants/{}/subgraphs/{}", "recurse", ""],
  ["post /assistants/{}/versions", "", "limit metadata offset"],
  [
    "post /runs",
    "",
    "after_seconds assistant_id checkpoint_during command config context durability if_not_exists input interrupt_after interrupt_before langsmith_tracer metadata on_completion stream_mode stream_resumable stream_subgraphs webhook",
  ],
  [
    "post /runs/batch",
    "",
    "assistant_id checkpoint_id config context input interrupt_after interrupt_before metadata multitask_strategy thread_id webhook",
  ],
  ["post /runs/cancel", "action", "run_ids status thread_id"],
  [
    "post /runs/crons",
    "",
    "assistant_id checkpoint_during config context durability enabled end_time input interrupt_after interrupt_before metadata multitask_strategy on_run_completed schedule stream_mode stream_resumable stream_subgraphs timezone webhook",
  ],
  ["post /runs/crons/count", "", "assistant_id metadata thread_id"],
  ["post /runs/crons/search", "", "assistant_id enabled limit metadata offset select sort_by sort_order thread_id"],
  [
    "patch /runs/crons/{}",
    "",
    "config context durability enabled end_time input interrupt_after interrupt_before metadata on_run_completed schedule stream_mode stream_resumable stream_subgraphs timezone webhook",
  ],
  [
    "post /runs/stream",
    "",
    "after_seconds assistant_id checkpoint_during command config context durability feedback_keys if_not_exists input interrupt_after interrupt_before langsmith_tracer metadata on_completion on_disconnect stream_mode stream_resumable stream_subgraphs webhook",
  ],
  [
    "post /runs/wait",
    "",
    "after_seconds assistant_id checkpoint_during command config context durability if_not_exists input interrupt_after interrupt_before langsmith_tracer metadata on_completion on_disconnect raise_error webhook",
  ],
  ["delete /store/items", "", "key namespace"],
  ["get /store/items", "key namespace refresh_ttl", ""],
  ["put /store/items", "", "index key namespace ttl value"],
  ["post /store/items/search", "", "filter limit namespace_prefix offset query refresh_ttl"],
  ["post /store/namespaces", "", "limit max_depth offset prefix suffix"],
  ["post /threads", "", "if_exists metadata supersteps thread_id ttl"],
  ["post /threads/count", "", "metadata status values"],
  ["post /threads/prune", "", "strategy thread_ids"],
  ["post /threads/search", "", "extract ids limit metadata offset select sort_by sort_order status values"],
  ["get /threads/{}", "include", ""],
  ["patch /threads/{}", "", "metadata ttl"],
  ["post /threads/{}/history", "", "before checkpoint limit metadata"],
  ["get /threads/{}/runs", "limit offset select status", ""],
  [
    "post /threads/{}/runs",
    "",
    "after_seconds assistant_id checkpoint checkpoint_during checkpoint_id command config context durability if_not_exists input interrupt_after interrupt_before langsmith_tracer metadata multitask_strategy on_completion stream_mode stream_resumable stream_subgraphs webhook",
  ],
  [
    "post /threads/{}/runs/crons",
    "",
    "assistant_id checkpoint_during config context durability enabled end_time input interrupt_after interrupt_before metadata multitask_strategy schedule stream_mode stream_resumable stream_subgraphs timezone webhook",
  ],
  [
    "post /threads/{}/runs/stream",
    "",
    "after_seconds assistant_id checkpoint checkpoint_during checkpoint_id command config context durability feedback_keys if_not_exists input interrupt_after interrupt_before langsmith_tracer metadata multitask_strategy on_completion on_disconnect stream_mode stream_resumable stream_subgraphs webhook",
  ],
  [
    "post /threads/{}/runs/wait",
    "",
    "after_seconds assistant_id checkpoint checkpoint_during checkpoint_id command config context durability if_not_exists input interrupt_after interrupt_before langsmith_tracer metadata multitask_strategy on_completion on_disconnect raise_error webhook",
  ],
  ["post /threads/{}/runs/{}/cancel", "action wait", ""],
  ["get /threads/{}/runs/{}/stream", "cancel_on_disconnect stream_mode", ""],
  ["get /threads/{}/state", "subgraphs", ""],
  ["get /threads/{}/state/{}", "subgraphs", ""],
  ["post /threads/{}/state", "", "as_node checkpoint checkpoint_id values"],
  ["post /threads/{}/state/checkpoint", "", "checkpoint subgraphs"],
  ["get /threads/{}/stream", "stream_mode", ""],
];

/** A JSON Schema, as far as it is read here. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

/** Members of an object in any of its forms, or of the objects of a list. */
function collectMembers(schema: z.ZodType): ReadonlySet<string> {
  const whole = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }) as Schema;
  const names = new Set<string>();
  const collect = ({ $ref, properties, items, allOf = [], anyOf = [] }: Schema): void => {
    for (const name of Object.keys(properties ?? {})) names.add(name);
    const named = whole.$defs?.[$ref?.split("/").at(-1) ?? ""];
    for (const part of [...allOf, ...anyOf, ...[items, named].filter((one) => one !== undefined)]) collect(part);
  };
  collect(whole);
  return names;
}

const operations = await everyOperation();
const nameCall = ({ method, path }: AnyOperation): string => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`;

suite("members that the Python client sends", () => {
  for (const [call, query, body] of SENT)
    test(call, () => {
      const operation = operations.find((one) => nameCall(one) === call);
      assert.ok(operation !== undefined, "no such operation");
      const named = (text: string): readonly string[] =>
        text.split(" ").filter((name) => name !== "" && NOT_TAKEN[name] === undefined);
      const [asked, given] = [collectMembers(operation.query), collectMembers(operation.body)];
      assert.deepEqual(
        [...named(query).filter((name) => !asked.has(name)), ...named(body).filter((name) => !given.has(name))],
        [],
      );
    });
});
