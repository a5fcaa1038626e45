// Hint: the arguments of an action in brief, to distinguish items with the same title. Pure.
import type { ListedItem } from "../../../data/inbox/item.ts";
import { glance } from "../../../ui/format.ts";
import { isObject, type Json } from "../../../json/json.ts";
import { callText } from "../../../../src/api/text/payload-text.ts";
import { readRequest } from "./request.ts";

const MEMBERS_MAX = 4;
const VALUE_UNITS_MAX = 40;
const known = new WeakMap<ListedItem, string>();

/** "order_id 4711 · amount_eur 129.9"; empty for other items. */
export function hintOf(item: ListedItem): string {
  const made = known.get(item) ?? make(item);
  known.set(item, made);
  return made;
}

function make(item: ListedItem): string {
  if (item.kind !== "tool_approval") return "";
  const request = readRequest(item);
  const actions = request.kind === "actions" ? request.actions : [];
  if (actions.length > 1) return actions.slice(0, MEMBERS_MAX).map(callText).join(" · ");
  const [only] = actions;
  if (only === undefined || item.title === callText(only)) return "";
  const args: Json = only.args;
  if (!isObject(args)) return args === null ? "" : glance(args, VALUE_UNITS_MAX);
  return Object.entries(args)
    .slice(0, MEMBERS_MAX)
    .map(([name, value]) => `${name} ${glance(value, VALUE_UNITS_MAX)}`)
    .join(" · ");
}
