// Person only: whether an interrupt may be answered by the program that called the agent.
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";

/** `audience: "human"` in the payload, in a part of a list, or in the config of the assistant. */
export function isForPeopleOnly({ value }: { readonly value?: unknown }, assistantConfig: Json): boolean {
  const payloads = (Array.isArray(value) ? value : [value]) as readonly Json[];
  if (payloads.some(isHuman)) return true;
  if (!isJsonObject(assistantConfig)) return false;
  return isHuman(assistantConfig) || isHuman(assistantConfig["configurable"] ?? null);
}

function isHuman(value: Json): boolean {
  return isJsonObject(value) && value["audience"] === "human";
}
