// Payload excerpt: the beginning of a payload as one line for lists, and whether it asks for a confirmation. Pure, and
// runs in browsers.
// Invariants:
//   payload-excerpt.1. An excerpt has at most EXCERPT_UNITS_MAX units, and needs only part of a long payload.
//   payload-excerpt.2. It hides no character (visible-text.1).
//   payload-excerpt.3. It has what a person decides on: arguments, and the members of a question. Configuration, schemas
//     and marks of Markdown stay out of it.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { readContent } from "./payload-content.ts";
import { formatPlainText } from "./plain-text.ts";
import { visible } from "./visible-text.ts";

const EXCERPT_UNITS_MAX = 300;
/** Bounds the walk over payloads of empty lists and objects. */
const MEMBERS_MAX = 1000;
const DEPTH_MAX = 20;

interface Asked {
  readonly actions: readonly { readonly name: string | null; readonly args: Json }[];
}

/** `order: 4711 · amount: 30`, `refund · amount: 30 · mail · to: ann`, `question: Refund order 4711? · amount: 30` */
export function formatExcerpt(value: Json, { actions }: Asked): string {
  const walk: Walk = { parts: [], units: 0, members: 0 };
  for (const { name, args } of actions) {
    if (actions.length > 1 && !isFull(walk)) collect(walk, name ?? "an action", "", 0);
    collect(walk, args, "", 0);
  }
  if (actions.length === 0) collect(walk, readContent(value), "", 0);
  const text = walk.parts.join(PART);
  const shown = visible(text.slice(0, EXCERPT_UNITS_MAX + 1).toWellFormed());
  return shown.length <= EXCERPT_UNITS_MAX ? shown : `${shown.slice(0, EXCERPT_UNITS_MAX - 1).toWellFormed()}…`;
}

interface Listed {
  readonly title: string;
  readonly action: string | null;
  readonly excerpt: string;
}

/** What stands beside a title in a list: the arguments, or the members of a question, that the title does not have. */
export function formatHint({ title, action, excerpt }: Listed): string {
  if (action !== null && title.startsWith(`${action}(`)) return /[ ([]…/.test(title) ? excerpt : "";
  return excerpt
    .split(PART)
    .map((part) => withoutTitle(part, title))
    .filter((part) => part !== "")
    .join(PART);
}

const PART = " · ";

const COMPARED_UNITS = 40;

/** `question: Refund?` → ``, where the title is `Refund?` or has the member; of a longer text, what follows. */
function withoutTitle(part: string, title: string): string {
  const [, name = "", value = part] = /^([^:]+: )(.*)$/s.exec(part) ?? [];
  if (value.startsWith(title)) return value.slice(title.length).trim();
  if (part.startsWith(title)) return part.slice(title.length).trim();
  const begun = value.slice(0, COMPARED_UNITS);
  return name !== "" && (title.includes(name + begun) || title.includes(`${name}"${begun}`)) ? "" : part;
}

interface Walk {
  readonly parts: string[];
  units: number;
  members: number;
}

/** payload-excerpt.1 */
const isFull = ({ units, members }: Walk): boolean => units > EXCERPT_UNITS_MAX || members > MEMBERS_MAX;

function collect(walk: Walk, value: Json, name: string, depth: number): void {
  walk.members++;
  if (depth > DEPTH_MAX || isFull(walk)) return;
  if (typeof value !== "object" || value === null) {
    const text = typeof value === "string" ? line(value) : String(value);
    const part = name === "" ? text : `${line(name)}: ${text}`;
    walk.parts.push(part);
    walk.units += part.length + 3;
    return;
  }
  if (Array.isArray(value)) {
    for (const one of value as readonly Json[]) {
      if (isFull(walk)) return;
      collect(walk, one, name, depth + 1);
    }
    return;
  }
  for (const key in value as JsonObject) {
    if (isFull(walk)) return;
    collect(walk, (value as JsonObject)[key] ?? null, key, depth + 1);
  }
}

const line = (text: string): string => formatPlainText(text.slice(0, 2 * EXCERPT_UNITS_MAX));

const LISTS = ["action_requests", "actionRequests", "review_configs", "reviewConfigs"] as const;

/** What every message says of a payload that is marked so. */
export const DANGER = "This request is marked as dangerous.";

/** The payload, or one of its actions, has `dangerous: true`. */
export function isDangerous(value: Json): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some(isMarked);
  if (!isJsonObject(value)) return false;
  if (isMarked(value)) return true;
  return LISTS.some((key) => {
    const list = value[key];
    return Array.isArray(list) && (list as readonly Json[]).some(isMarked);
  });
}

/** In the format of Agent Inbox, the mark can be in the request or its config. */
function isMarked(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  return [value, value["action_request"], value["config"]].some(
    (one) => isJsonObject(one) && (one as Readonly<Record<string, Json>>)["dangerous"] === true,
  );
}
