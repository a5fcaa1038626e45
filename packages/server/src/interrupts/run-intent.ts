// Run intent: the kind of a run-creating call, derived from its input and command (resume rules 3 and 4).
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export type Intent =
  | { readonly kind: "input"; readonly input: Json }
  | { readonly kind: "continue" }
  /** `fork`: answer the interrupt of an older checkpoint again. */
  | {
      readonly kind: "resume";
      readonly resume: Json;
      readonly fork?: true;
      readonly update?: Json;
      readonly goto?: Json;
    }
  | { readonly kind: "command"; readonly update?: Json; readonly goto?: Json }
  /** `goto: "__end__"`: drop the pending work and end the thread. */
  | { readonly kind: "end_thread"; readonly update?: Json; readonly goto: Json };

/** A non-empty command overrides `input`. */
export function readIntent(input: Json | undefined, command: JsonObject | null): Intent {
  const parts = command === null ? null : commandParts(command);
  if (parts === null) {
    return input === undefined || input === null ? { kind: "continue" } : { kind: "input", input };
  }
  const { update, goto } = parts;
  const rest = { ...(update === undefined ? {} : { update }), ...(goto === undefined ? {} : { goto }) };
  return "resume" in parts && parts.resume !== undefined
    ? { kind: "resume", resume: parts.resume, ...(command?.["fork"] === true ? { fork: true } : {}), ...rest }
    : goto !== undefined && isEnd(goto)
      ? { kind: "end_thread", ...rest, goto }
      : { kind: "command", ...rest };
}

function isEnd(goto: Json): boolean {
  return (Array.isArray(goto) ? goto : [goto]).every((target) => target === "__end__");
}

/** `resume` counts if present, with any value; `goto` and `update` count if not empty. */
function commandParts(command: JsonObject): { resume?: Json; update?: Json; goto?: Json } | null {
  const parts: { resume?: Json; update?: Json; goto?: Json } = {};
  if (Object.hasOwn(command, "resume")) parts.resume = command["resume"] ?? null;
  const { update, goto } = command;
  if (saysSomething(update)) parts.update = update as Json;
  if (saysSomething(goto)) parts.goto = goto as Json;
  return Object.keys(parts).length === 0 ? null : parts;
}

function saysSomething(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "") return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}

/** A breakpoint has no interrupt: a bare value continues the thread and is ignored. */
export function atBreakpoint(intent: Intent): Intent {
  if (intent.kind !== "resume" || isAnswerMap(intent.resume)) return intent;
  const { kind: _kind, resume: _resume, fork: _fork, ...rest } = intent;
  return Object.keys(rest).length === 0 ? { kind: "continue" } : { kind: "command", ...rest };
}

/** Node names of a `goto`. @throws {ApiError} `invalid_request` for forms that the library interprets differently */
export function gotoTargets(goto: Json | undefined): readonly string[] {
  if (goto === undefined) return [];
  const targets = Array.isArray(goto) ? (goto as readonly Json[]) : [goto];
  return targets.map((target) => {
    const node = isJsonObject(target) ? target["node"] : target;
    if (typeof node === "string") return node;
    const message = 'expected a node\'s name, {"node": <name>, "input": …}, or a list of these';
    throw new ApiError("invalid_request", `body field command.goto: ${message}`, {
      errors: [{ path: "command.goto", message }],
    });
  });
}

/** Targets that continue the graph: the end of it is no way around an interrupt. */
export function withoutEnd(targets: readonly string[]): readonly string[] {
  return targets.filter((target) => target !== "__end__");
}

/** An object whose keys are all 32 hex digits maps interrupt ids to answers. */
export function isAnswerMap(resume: Json): resume is JsonObject {
  if (!isJsonObject(resume)) return false;
  const keys = Object.keys(resume);
  return keys.length > 0 && keys.every((key) => /^[0-9a-f]{32}$/.test(key));
}
