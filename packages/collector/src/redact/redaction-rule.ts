// Redaction rule: one rule of the rules file, compiled, and its effect on a text or a value.
// Invariants:
//   - A pattern of the operator runs on RE2, in time linear in the text.
//   - Equal texts have equal hashes under one key, and no hash can be computed without the key.
import { createHmac } from "node:crypto";
import { RE2JS } from "re2js";
import { FINDERS } from "./find/detectors.ts";
import { merged, type Ranges } from "./find/ranges.ts";
import { type Part, USUAL_PARTS } from "./parts.ts";
import { type PathPattern, pathPattern } from "./path-pattern.ts";
import type { RedactDefinition } from "./redact-schema.ts";

export interface RedactionRule {
  readonly name: string;
  /** Position in the counts. */
  readonly index: number;
  readonly action: "replace" | "hash" | "drop";
  readonly parts: ReadonlySet<Part>;
  /** null: every project, every tenant. */
  readonly projects: ReadonlySet<string> | null;
  readonly tenants: ReadonlySet<string> | null;
  /** null: everywhere in the parts. */
  readonly paths: readonly PathPattern[] | null;
  /** null: the whole value at the path. */
  readonly find: ((text: string) => Ranges) | null;
  /** Text in the place of a finding. */
  readonly substitute: (found: string) => string;
}

const HASH_DIGITS = 16;

/** @throws {Error} with the reason, for a pattern that RE2 does not accept. */
export function compileRule(given: RedactDefinition, index: number, hashKey: string | null): RedactionRule {
  const paths = given.attributes === undefined ? null : given.attributes.map(pathPattern);
  const finders = (given.detect ?? []).map((detector) => FINDERS[detector]);
  if (given.match !== undefined) finders.push(patternFinder(given.match));
  const parts = given.in === undefined ? USUAL_PARTS : new Set(given.in);
  return {
    name: given.name,
    index,
    action: given.action,
    parts,
    projects: given.projects === undefined ? null : new Set(given.projects),
    tenants: given.tenants === undefined ? null : new Set(given.tenants),
    paths,
    find: finders.length === 0 ? null : joinFinders(finders),
    substitute: buildSubstitute(given, hashKey),
  };
}

function joinFinders(finders: readonly ((text: string) => Ranges)[]): (text: string) => Ranges {
  const [first] = finders;
  if (finders.length === 1 && first !== undefined) return first;
  return (text) => merged(finders.flatMap((find) => find(text)));
}

/** @throws {Error} */
function patternFinder(pattern: string): (text: string) => Ranges {
  const compiled = RE2JS.compile(pattern);
  return (text) => {
    if (!compiled.test(text)) return []; // a tenth of the cost of a matcher
    const found: number[] = [];
    const matcher = compiled.matcher(text);
    while (matcher.find()) if (matcher.end() > matcher.start()) found.push(matcher.start(), matcher.end());
    return found;
  };
}

function buildSubstitute(given: RedactDefinition, hashKey: string | null): (found: string) => string {
  const { action, name, replacement = `[${name}]` } = given;
  if (action !== "hash" || hashKey === null) return () => replacement;
  return (found) => `[${name}:${createHmac("sha256", hashKey).update(found).digest("hex").slice(0, HASH_DIGITS)}]`;
}
