// Redaction rule: one rule of the rules file, compiled, and its effect on a text or a value.
// Invariants:
//   redaction-rule.1. A pattern of the operator runs on RE2, in time linear in the text.
//   redaction-rule.2. Equal texts have equal hashes under one key, and no hash can be computed without the key.
import { createHmac } from "node:crypto";
import { RE2JS } from "re2js";
import { literalRequirement, type Requirement } from "./find/candidates.ts";
import type { Ranges } from "./find/card-numbers.ts";
import { type Detector, FINDERS, merged, TOKEN_BEGINNINGS } from "./find/detectors.ts";
import { TEXT_FIELDS } from "./otlp-messages.ts";
import { type Part, USUAL_PARTS } from "./parts.ts";
import { behindName, literalOfPath, type PathPattern, pathPattern } from "./path-pattern.ts";
import { requiredText } from "./find/required-text.ts";
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
  readonly requirements: readonly Requirement[];
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
    find: finders.length === 0 ? null : finderOf(finders),
    substitute: substituteOf(given, hashKey),
    requirements: finders.length === 0 ? pathRequirements(paths ?? [], parts) : textRequirements(given),
  };
}

function finderOf(finders: readonly ((text: string) => Ranges)[]): (text: string) => Ranges {
  const [first] = finders;
  if (finders.length === 1 && first !== undefined) return first;
  return (text) => merged(finders.flatMap((find) => find(text)));
}

/** redaction-rule.1. @throws {Error} */
function patternFinder(pattern: string): (text: string) => Ranges {
  const compiled = RE2JS.compile(pattern);
  const { gate } = requiredText(pattern);
  return (text) => {
    if (gate?.test(text) === false) return [];
    const found: number[] = [];
    const matcher = compiled.matcher(text);
    while (matcher.find()) if (matcher.end() > matcher.start()) found.push(matcher.start(), matcher.end());
    return found;
  };
}

/** redaction-rule.2. */
function substituteOf(given: RedactDefinition, hashKey: string | null): (found: string) => string {
  const { action, name, replacement = `[${name}]` } = given;
  if (action !== "hash" || hashKey === null) return () => replacement;
  return (found) => `[${name}:${createHmac("sha256", hashKey).update(found).digest("hex").slice(0, HASH_DIGITS)}]`;
}

function pathRequirements(paths: readonly PathPattern[], parts: ReadonlySet<Part>): readonly Requirement[] {
  // The protocol's own names (`status.message`) are not in the bytes. The names of members inside such a value are.
  const names = TEXT_FIELDS.flatMap(({ part, path: [name = ""] }) => (parts.has(part) ? [name] : []));
  return paths.flatMap((path) => {
    const inside = names.map((name) => behindName(path, name)).filter((found) => found !== null);
    return [path, ...inside].map((pattern): Requirement => {
      const literal = longestSafe(literalOfPath(pattern));
      return literal === "" ? { kind: "anything" } : literalRequirement(literal);
    });
  });
}

/** JSON may write the others with an escape. */
function longestSafe(text: string): string {
  return text.split(/["\\/\p{Cc}]|[^\x20-\x7e]/u).reduce((one, other) => (other.length > one.length ? other : one), "");
}

function textRequirements({ detect = [], match }: RedactDefinition): readonly Requirement[] {
  const own = match === undefined ? [] : requiredText(match).requirements;
  return [...own, ...detect.flatMap((detector) => DETECTOR_REQUIREMENTS[detector])];
}

const IN_ADDRESS = "A-Za-z0-9\\x80-\\xff";

/** A character of an address after the "@" may be an escape of JSON. Before it, an escape ends with a digit. */
const DETECTOR_REQUIREMENTS: Readonly<Record<Detector, readonly Requirement[]>> = {
  email: [
    { kind: "bytes", sources: [`[${IN_ADDRESS}.+_-]`, "@", `[${IN_ADDRESS}\\\\]`] },
    { kind: "bytes", sources: [`[${IN_ADDRESS}.+_-]`, "%", "4", "0", `[${IN_ADDRESS}\\\\]`] },
  ],
  card: [{ kind: "card" }],
  token: [
    ...TOKEN_BEGINNINGS.flatMap((beginning) => requiredText(beginning).requirements),
    // A password in a URL.
    { kind: "bytes", sources: [String.raw`[^\x09\x0a\x0d\x20"/]`, "@"] },
  ],
};
