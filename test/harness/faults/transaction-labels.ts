// Labels of a transaction, derived from its writes: the names of its points in faults.ts. Both storages write the same
// tables; only the schema's name before them differs.
import { createDecipheriv } from "node:crypto";
import { parseKeys } from "@holdpoint/base/keyring.ts";
import type { Fault } from "./fault-server.ts";

/** Fault points for one storage, from faults.ts. */
export interface Points {
  readonly pass: (points: ReadonlySet<string>, threads?: readonly unknown[]) => Fault | null;
  readonly rollbackFails: () => boolean;
}

/** The transaction on one connection. */
export class Transaction {
  private labels = new Set<string>();
  /** Parameters of its writes. */
  bound: unknown[] = [];

  begin(): void {
    this.labels = new Set();
    this.bound = [];
  }

  /** @returns the point of this statement, or null for one that writes nothing */
  add(sql: string, parameters: readonly unknown[]): string | null {
    for (const label of listLabels(sql, parameters)) this.labels.add(label);
    if (!/^(INSERT|UPDATE|DELETE|SELECT append_audit)/.test(sql)) return null;
    this.bound.push(...parameters);
    return `statement: ${/(?:INTO|UPDATE|FROM|append_)\s*(\w+)/.exec(sql)?.[1] ?? ""}`;
  }

  listPoints(moment: "before" | "after"): ReadonlySet<string> {
    const all = new Set([...this.labels, "any"]);
    if (all.has("checkpoint") && !all.has("finish")) all.add("superstep");
    return new Set([...all].map((label) => `${moment} commit: ${label}`));
  }
}

function listLabels(sql: string, parameters: readonly unknown[]): readonly string[] {
  if (sql.startsWith("INSERT INTO runs")) {
    const answers = parameters.some((parameter) => readText(parameter).includes('"answers":'));
    return answers ? ["accept", "accept answer"] : ["accept"];
  }
  if (sql.startsWith("UPDATE runs")) {
    if (parameters.includes("pause")) return ["pause", "finish"];
    if (parameters.includes("done")) return ["end", "finish"];
    if (parameters.includes("failure") || parameters.includes("cancel")) return ["finish"];
    if (parameters.includes("pending")) return ["hand back"];
    return ["claim"];
  }
  if (sql.includes("INTO checkpoints")) return ["checkpoint"];
  if (sql.includes("INTO writes")) {
    const consumes = parameters.some((parameter) => readText(parameter).includes('"__resume__"'));
    return consumes ? ["consumed"] : [];
  }
  if (/INTO audit|append_audit/.test(sql)) return parameters.includes("cancelled") ? ["cancel"] : [];
  if (/^(?:INSERT INTO|UPDATE|DELETE FROM) (?:holdpoint\.)?meta/.test(sql)) {
    const names = (text: string): boolean => parameters.some((parameter) => String(parameter).startsWith(text));
    if (sql.startsWith("UPDATE") && names("erasure of ")) return ["erasure"];
    return names("erasing thread ") ? ["thread erasure"] : [];
  }
  return sql.startsWith("DELETE FROM threads") ? ["delete"] : [];
}

const keys = process.env["HOLDPOINT_ENCRYPTION_KEYS"] ?? "";
const ring = new Map((keys === "" ? [] : parseKeys(keys)).map(({ id, key }) => [id, key]));

/** A parameter as text. A sealed one is deciphered without its place: only labels depend on it. */
function readText(parameter: unknown): string {
  const bytes = parameter instanceof Uint8Array ? Buffer.from(parameter) : null; // SQLite
  const text = bytes?.toString("latin1") ?? String(parameter);
  const [head = "", id = ""] = /^~1\.([\w-]+)=*\./.exec(text) ?? [];
  const key = ring.get(id);
  if (key === undefined) return text;
  const parts = bytes?.subarray(head.length) ?? Buffer.from(text.slice(head.length), "base64");
  return createDecipheriv("aes-256-gcm", key, parts.subarray(0, 12)).update(parts.subarray(28)).toString();
}
