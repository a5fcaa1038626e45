// Run name: the name that a person would use. The span's own name is the last resort, and mostly good enough.
import type { Facts } from "../attributes/span-facts.ts";
import { sources } from "../attributes/known-keys.ts";
import type { RunType } from "../../shared/trace-run.ts";

const GIVEN = sources("langsmith.trace.name", "langsmith.metadata.ls_run_name");
const FUNCTION_ID = sources("ai.telemetry.functionId");
const AI_OPERATION = sources("ai.operationId", "operation.name");
const ENTITY = sources("traceloop.entity.name");
/** The name of the called tool. */
export const TOOL = sources(
  "gen_ai.tool.name",
  "tool.name",
  "ai.toolCall.name",
  "tool_name",
  "lk.function_tool.name",
  "spring.ai.tool.definition.name",
  "haystack.tool.name",
);
const COMPONENT = sources("haystack.component.name");
const AGENT = sources("gen_ai.agent.name");
const OPERATION = sources("gen_ai.operation.name");
const MODEL = sources("gen_ai.request.model");
const LOGFIRE = sources("logfire.msg");
const GENKIT = sources("genkit:name");

export function chooseRunName(facts: Facts, type: RunType): string {
  const given = facts.text(GIVEN);
  if (given !== "") return given;
  const span = facts.span.name;
  const operation = facts.peek(AI_OPERATION);
  if (isTopLevelVercel(operation)) {
    const name = facts.text(FUNCTION_ID);
    if (name !== "") return name;
  }
  const entity = facts.text(ENTITY);
  if (entity !== "") return entity;
  if (type === "tool") {
    const tool = facts.text(TOOL);
    if (tool !== "") return tool;
  }
  if (span === "haystack.component.run") {
    const component = facts.text(COMPONENT);
    if (component !== "") return component;
  }
  const agent = facts.peek(AGENT);
  if (agent !== "" && isOnlyOperation(facts)) return agent;
  const message = isTemplate(span) ? facts.text(LOGFIRE) : "";
  return message || facts.text(GENKIT) || span || facts.peek(OPERATION) || "unnamed";
}

/** `ai.generateText`, not the `ai.generateText.doGenerate` inside it, whose name comes from the model call. */
function isTopLevelVercel(operation: string): boolean {
  return operation.startsWith("ai.") && !operation.includes(".do") && !operation.startsWith("ai.toolCall");
}

/** Also `invoke_agent gpt-5`: AI SDK 7 has the name of the function as the agent's. */
function isOnlyOperation(facts: Facts): boolean {
  const { name } = facts.span;
  const operation = facts.peek(OPERATION);
  return name === operation || name === "invoke_agent" || name === `invoke_agent ${facts.peek(MODEL)}`;
}

/** Logfire names spans by their message template. */
function isTemplate(name: string): boolean {
  return (
    name === "" || name.includes("{") || name === "agent run" || name === "running tool" || name === "running tools"
  );
}
