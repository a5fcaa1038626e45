// Problem size: limits the extra members of a problem, because clients print the whole body.
// Rules:
//   problem-size.1. A problem has at most 1,024 bytes. A smaller one stays unchanged.
//   problem-size.2. Data available elsewhere goes first: the values and schemas of interrupts, then the ends of lists.
//        A shortened list has its full length in `<name>_count`; `see` names the source of the full data.
//   problem-size.3. The members that programs decide by (`code`, `thread_status`, `answered`, ids) stay.
import { isJsonObject, type Json } from "../../json/json.ts";

const BYTES_MAX = 1024;
const DETAIL_UNITS_MAX = 240;

type Members = Readonly<Record<string, unknown>>;

export function shortText(text: string): string {
  return text.length <= DETAIL_UNITS_MAX ? text : `${text.slice(0, DETAIL_UNITS_MAX - 2).trimEnd()} …`;
}

/** @param head the members that come first, and stay */
export function fitted(head: Members, extra: Members): Members {
  let whole = { ...head, ...extra };
  if (fits(whole)) return whole;
  const lists = Object.entries(extra).filter((entry): entry is [string, readonly Json[]] => Array.isArray(entry[1]));
  for (const [name, list] of lists) {
    whole = { ...whole, [name]: list.map(brief), [`${name}_count`]: list.length };
    if (fits(whole)) return whole;
  }
  for (const [name, list] of lists) {
    const kept = list.map(brief);
    while (kept.length > 0) {
      kept.length -= Math.max(1, Math.floor(kept.length / 4));
      whole = { ...whole, [name]: [...kept] };
      if (fits(whole)) return whole;
    }
  }
  const small = Object.entries(whole).filter(([name, value]) => name in head || JSON.stringify(value)?.length < 200);
  const rest = Object.fromEntries(small);
  return fits(rest) ? rest : head;
}

function fits(members: Members): boolean {
  return Buffer.byteLength(JSON.stringify(members)) <= BYTES_MAX;
}

/** The short form of a list member: the id of a question; place and message of a fault; a name. */
function brief(item: Json): Json {
  if (!isJsonObject(item)) return typeof item === "string" ? shortText(item) : item;
  if (typeof item["id"] === "string") return { id: item["id"] };
  const { path, message } = item;
  return typeof message === "string"
    ? { ...(typeof path === "string" ? { path: shortText(path) } : {}), message: shortText(message) }
    : item;
}
