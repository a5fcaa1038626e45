// Filter words: the filters of the inbox, as the page names them.
import { kindLabel } from "../../../data/inbox/item.ts";
import type { DUES, Filters } from "./filters.ts";

export const AGES = [
  { value: "15m", label: "Over 15 minutes" },
  { value: "1h", label: "Over an hour" },
  { value: "1d", label: "Over a day" },
  { value: "7d", label: "Over a week" },
] as const;

export const DUE_LABELS: Readonly<Record<(typeof DUES)[number], string>> = {
  overdue: "Overdue",
  hour: "Within an hour",
  day: "Within a day",
  week: "Within a week",
  later: "Later",
  none: "No deadline",
};

const NAMES: Readonly<Record<keyof Filters, string>> = {
  text: "Search",
  graph: "Graph",
  assistant: "Assistant",
  node: "Node",
  action: "Action",
  kind: "Kind",
  older: "Age",
  metadata: "Metadata",
  claim: "Claimed by",
  due: "Deadline",
  snoozed: "Snoozed",
  tab: "Whose",
  order: "Order",
};

/** "Kind: Form". @param assistants names by id */
export function filterWords(name: keyof Filters, filters: Filters, assistants: ReadonlyMap<string, string>): string {
  const value = filters[name] ?? "";
  return `${NAMES[name]}: ${valueWords(name, filters, assistants) ?? value}`;
}

function valueWords(
  name: keyof Filters,
  { kind, due, older, claim, snoozed, assistant }: Filters,
  assistants: ReadonlyMap<string, string>,
): string | undefined {
  if (name === "kind" && kind !== undefined) return kindLabel(kind);
  if (name === "due" && due !== undefined) return DUE_LABELS[due];
  if (name === "older") return AGES.find(({ value }) => value === older)?.label;
  if (name === "assistant" && assistant !== undefined) return assistants.get(assistant);
  if (name === "snoozed") return snoozed === "only" ? "Only snoozed" : "Shown with the others";
  if (name !== "claim") return undefined;
  return claim === "me" ? "me" : claim === "nobody" ? "no one" : claim;
}
