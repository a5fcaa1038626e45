// Tool content: the arguments and the result of a tool's run. The first source with a result wins.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { member } from "../attributes/indexed.ts";
import { sources, type Sources, union } from "../attributes/known-keys.ts";
import { isObject, toJson, jsonWithin } from "../attributes/plain-values.ts";
import {
  attributes,
  found,
  given,
  readContent,
  type ContentSource,
  type Found,
  type Key,
} from "../messages/content.ts";
import { toolPart } from "../forms/conversation.ts";
import type { RunType } from "../../shared/trace-run.ts";
import type { SpanEventContent } from "../messages/span-events.ts";
import { markUsed } from "../messages/unused-events.ts";

const ADK_TOOL_ARGUMENTS = sources("gcp.vertex.agent.tool_call_args");
const ADK_TOOL_RESPONSE = sources("gcp.vertex.agent.tool_response");

/** What Claude Code says of a tool's arguments without OTEL_LOG_TOOL_CONTENT. */
const CLAUDE_ARGUMENTS = ["full_command", "file_path", "skill_name", "subagent_type"].map(
  (name) => [name, sources(name)] as const,
);
const CLAUDE_ANY = union(...CLAUDE_ARGUMENTS.map(([, from]) => from));

export const TOOL_INPUTS: readonly ContentSource[] = [
  attributes(
    "input",
    "gen_ai.tool.call.arguments",
    "ai.toolCall.args",
    "ai.toolCall.input",
    "tool_arguments",
    "spring.ai.tool.call.arguments",
    "lk.pii.function_tool.arguments",
    "lk.function_tool.arguments",
  ),
  ({ facts }) => notApplicable(facts, ADK_TOOL_ARGUMENTS, "input", "tool"),
  ({ eventContent, facts }) => {
    const call = eventContent.messages.find((message) => member(message, "role") === "tool"); // Strands: the arguments
    if (call === undefined) return null;
    const isAll = eventContent.messages.length === 1 && says(facts, call, ["role", "content"]);
    const content = readContent({ value: jsonWithin(member(call, "content")), source: null }, "input", "tool");
    return isAll ? markUsed(eventContent, content, "messages") : content;
  },
  ({ eventContent, facts }) => part(eventContent, facts, ["input", "tool_call", "arguments"]),
  attributes(
    "input",
    "gen_ai.tool.input",
    "flue.tool.arguments",
    "tool_input",
    "mcp.request.argument",
    "mcp.request.arguments",
    "input.value",
    "input-json",
    "braintrust.input_json",
    "agentops.entity.input",
    "mlflow.spanInputs",
    "tool.parameters", // the schema of the arguments
    "gen_ai.tool.args",
  ),
  given(CLAUDE_ANY, ({ facts }) => claudeArguments(facts)),
];

export const TOOL_OUTPUTS: readonly ContentSource[] = [
  attributes(
    "output",
    "gen_ai.tool.call.result",
    "ai.toolCall.result",
    "ai.toolCall.output",
    "tool_response",
    "spring.ai.tool.call.result",
    "lk.pii.function_tool.output",
    "lk.function_tool.output",
  ),
  ({ facts }) => notApplicable(facts, ADK_TOOL_RESPONSE, "output", "tool"),
  ({ eventContent, facts }) => {
    const choice = eventContent.choices.at(-1); // Strands: the result is the choice
    if (choice === undefined) return null;
    const result = choice["tool_result"] ?? member(choice, "message", "content");
    const content = readContent({ value: jsonWithin(result), source: null }, "output", "tool");
    const { message, tool_result: own, ...more } = choice;
    const isAll =
      eventContent.choices.length === 1 &&
      (own === undefined || member(message, "content") === "") &&
      says(facts, more, []) &&
      says(facts, message, ["role", "content"]);
    return isAll ? markUsed(eventContent, content, "choices") : content;
  },
  ({ eventContent, facts }) => part(eventContent, facts, ["output", "tool_call_response", "response"]),
  ({ eventContent, facts }) => part(eventContent, facts, ["output", "tool_call_response", "result"]),
  attributes(
    "output",
    "gen_ai.tool.output",
    "flue.tool.result",
    "tool_output",
    "output.value",
    "mcp.response.value",
    "output-json",
    "braintrust.output_json",
    "agentops.entity.output",
    "mlflow.spanOutputs",
  ),
  ({ eventContent }) =>
    eventContent.toolOutput === null ? null : markUsed(eventContent, found(eventContent.toolOutput), "toolOutput"),
];

/** With more than the part the messages stay in `events` too. */
function part(
  eventContent: SpanEventContent,
  facts: Facts,
  [side, type, name]: readonly ["input" | "output", string, string],
): Found | null {
  const own = toolPart(eventContent.details[side], type, name);
  if (own === null) return null;
  const isAll = own.isAlone && says(facts, own.part, ["type", name]);
  const content = readContent({ value: jsonWithin(own.part[name]), source: null }, side, "tool");
  return isAll ? markUsed(eventContent, content, side) : content;
}

/** True when the value has these members, and beyond them only the id and the name that the span has, too. */
function says(facts: Facts, value: Json | undefined, names: readonly string[]): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).every(([name, one]) => {
    if (names.includes(name)) return name !== "role" || typeof one !== "string" || ROLES.has(one);
    if (name === "id" || name === "tool_call_id") return one === facts.peek(CALL_ID);
    return name === "name" && one === facts.peek(TOOL);
  });
}

const CALL_ID = sources("gen_ai.tool.call.id");
const TOOL = sources("gen_ai.tool.name");
const ROLES: ReadonlySet<string> = new Set(["tool", "user", "assistant"]);

function claudeArguments(facts: Facts): Found | null {
  if (!facts.span.name.startsWith("claude_code.")) return null;
  return found(
    Object.fromEntries(
      CLAUDE_ARGUMENTS.flatMap(([name, from]) => {
        const value = facts.text(from);
        return value === "" ? [] : [[name, value]];
      }),
    ),
  );
}

/** ADK writes "{}" and "N/A" where it has nothing to say. */
export function notApplicable(facts: Facts, from: Sources, key: Key, type: RunType): Found | null {
  const value = toJson(facts.value(from));
  if (value === "N/A" || (isObject(value) && Object.keys(value).length === 0)) return null;
  return readContent({ value, source: null }, key, type);
}
