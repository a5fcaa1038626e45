// Control values: JSON on which LangGraph acts instead of passing it on as data. A caller must not send any.
// Invariants:
//   langgraph/control-values.1. Accepted JSON contains no Command, Send, Overwrite, snapshot or final value of
//        LangGraph, at any depth: a node may return a part of its input, or of an item in the store.
//   langgraph/control-values.2. An update writes to channels of the state only, not to internal ones for answers, tasks
//        and branches.
//   langgraph/control-values.3. The input of a `goto` stays as sent: LangGraph would turn every `{node, args}` in it
//        into a Send.
//   langgraph/control-values.4. All else is data: `resume`, `goto`, `lc`, `node` or `args` are ordinary member names.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject } from "@holdpoint/base/json/json.ts";
import type { GivenValues } from "../../ports/ports.ts";

/** Values of `lg_name` that mark LangGraph's own classes. */
const OWN_CLASSES: ReadonlySet<unknown> = new Set(["Command", "Send", "Overwrite", "DeltaSnapshot"]);

const OVERWRITE = "__overwrite__";
const CONFIG_PREFIX = "__pregel_";

/** Names that LangGraph keeps for its own channels, known and to come; a graph without named channels has `__root__`. */
const OWN_CHANNEL = /^(?!__root__$)__\w+__$|^(?:__pregel_|branch:to:|join:)/;

/** Internal to the library: answers, tasks, branches. */
export function isOwnChannel(name: string): boolean {
  return OWN_CHANNEL.test(name);
}

type Path = (string | number)[];

interface Part {
  readonly value: unknown;
  readonly path: Path;
  /** To a node by `goto` (langgraph/control-values.3). */
  readonly sent: boolean;
}

/** @throws {ApiError} `control_value_refused`, with the path to the value. */
export function rejectControlValues(given: GivenValues): void {
  refuseOwnChannels(given.update);
  for (const { value, path, sent } of listParts(given)) refuseIn(value, path, sent);
}

function listParts({ input, update, goto, answers = [], item }: GivenValues): readonly Part[] {
  const targets = (Array.isArray(goto) ? goto : [goto]).filter(isJsonObject);
  return [
    { value: input, path: ["input"], sent: false },
    { value: update, path: ["command", "update"], sent: false },
    { value: item, path: ["value"], sent: false },
    ...targets.flatMap((target) =>
      ["input", "args"].map((member) => ({ value: target[member], path: ["command", "goto", member], sent: true })),
    ),
    ...answers.map((value) => ({ value, path: ["command", "resume"], sent: false })),
  ];
}

/** langgraph/control-values.2. */
function refuseOwnChannels(update: unknown): void {
  for (const [at, channel] of listChannels(update)) {
    if (isOwnChannel(channel)) throw refusal([...at, channel], `the channel ${channel} is the library's own`);
  }
}

function listChannels(update: unknown): readonly (readonly [at: Path, channel: string])[] {
  const at: Path = ["command", "update"];
  if (isJsonObject(update)) return Object.keys(update).map((channel) => [at, channel]);
  if (!Array.isArray(update)) return [];
  return update.flatMap((pair: unknown): (readonly [Path, string])[] =>
    Array.isArray(pair) && typeof pair[0] === "string" ? [[at, pair[0]]] : [],
  );
}

/** @param sent to a node by `goto` (langgraph/control-values.3) */
function refuseIn(value: unknown, path: Path, sent: boolean): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      if (typeof value[at] !== "object") continue;
      path.push(at);
      refuseIn(value[at], path, sent);
      path.pop();
    }
    return;
  }
  const object = value as Record<string, unknown>;
  const why = findSerializedForm(object, sent);
  if (why !== null) throw refusal(path, why);
  for (const key of Object.keys(object)) {
    if (typeof object[key] !== "object") continue;
    path.push(key);
    refuseIn(object[key], path, sent);
    path.pop();
  }
}

/** langgraph/control-values.1. @returns LangGraph's interpretation of the object; null for data */
function findSerializedForm(object: Record<string, unknown>, sent: boolean): string | null {
  if (Object.hasOwn(object, "lg_name") && OWN_CLASSES.has(object["lg_name"]))
    return `lg_name is ${String(object["lg_name"])}`;
  if (Object.hasOwn(object, OVERWRITE)) return `it has the member ${OVERWRITE}`;
  if (object["type"] === OVERWRITE && Object.hasOwn(object, "value")) return `type is ${OVERWRITE}`;
  if (Object.hasOwn(object, "__lg_type")) return "it has the member __lg_type";
  // A tool message has its own member of this name.
  if (object["lc_direct_tool_output"] === true && !Object.hasOwn(object, "tool_call_id"))
    return "lc_direct_tool_output is true";
  const own = Object.keys(object).find((key) => key.startsWith(CONFIG_PREFIX));
  if (own !== undefined) return `it has the member ${own}`;
  if (!sent) return null;
  if (typeof object["node"] === "string" && Object.hasOwn(object, "args")) return "it has the members node and args";
  return Object.hasOwn(object, "__proto__") ? "it has the member __proto__" : null;
}

function refusal(path: Path, why: string): ApiError {
  const at = path.join(".");
  return new ApiError("control_value_refused", `The graph library would act on ${at} instead of storing it: ${why}.`, {
    path: at,
  });
}
