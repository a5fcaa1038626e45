// Prepared schema: a copy of a question's JSON Schema with which the validator does a bounded amount of work.
// Invariants:
//   prepared-schema.1. RE2 matches every pattern, in time linear in the text; the validator gets each as a format of its
//        own. A pattern that RE2 cannot express has no check: the question is refused (findSchemaFault).
//   prepared-schema.2. Each visit of a part of the schema, each text that is matched and each comparison counts. A check
//        ends after STEPS_MAX, on every machine at the same place.
//   prepared-schema.3. The copy has the schema's own meaning otherwise.
import {
  format as formats,
  ignoredKeyword,
  type Schema,
  schemaArrayKeyword,
  schemaMapKeyword,
} from "@cfworker/json-schema";
import { compilePattern } from "@holdpoint/base/linear-pattern.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

/** Measured: at most a tenth of a second. */
const STEPS_MAX = 100_000;
const NODES_MAX = 20_000;
const LEVELS_MAX = 100;
/** A longer text has none of the formats. */
const FORMAT_UNITS_MAX = 2048;
const PATTERN_UNITS_MAX = 1000;
/** Instructions of RE2 for all patterns of a schema, as estimated; each takes a microsecond and a hundred bytes. */
const PATTERN_COST_MAX = 50_000;
/** RE2's own limit, also for repeats within repeats. */
const REPEATS_MAX = 1000;
const MATCHERS_MAX = 500;
const UNITS_PER_STEP = 8;
const STEPS_PER_VISIT = 2;

export class TooManyStepsError extends Error {}
/** The sentence says what is wrong with the schema. */
export class SchemaFaultError extends Error {}

let stepsLeft = 0;

function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new TooManyStepsError(); // prepared-schema.2
}

/** Runs one check, which is synchronous. @throws {TooManyStepsError} */
export function countSteps<T>(check: () => T): T {
  stepsLeft = STEPS_MAX;
  return check();
}

/** @returns a sentence for the author of the question; null for a schema that can be checked */
export function findSchemaFault(schema: JsonObject): string | null {
  try {
    copyWhole(schema, { names: [], pairs: 0 });
    return null;
  } catch (error) {
    if (error instanceof SchemaFaultError) return error.message;
    throw error;
  }
}

/** @throws {SchemaFaultError} */
export function prepareSchema(schema: JsonObject, answer: Json): Schema {
  const shape = { names: new Set<string>(), pairs: 0 };
  measure(answer, shape);
  return copyWhole(schema, { names: [...shape.names], pairs: shape.pairs });
}

function copyWhole(schema: JsonObject, shape: Pick<Copying, "names" | "pairs">): Schema {
  if (added.size > MATCHERS_MAX) forgetMatchers(); // not within a check
  return copySchema({ ...shape, nodes: 0, patterns: 0 }, schema, 0) as Schema;
}

/**
 * Collects the names of the answer's members, and the comparisons that `uniqueItems` makes.
 * @returns the number of values in the answer
 */
function measure(value: Json, shape: { names: Set<string>; pairs: number }): number {
  let values = 1;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) values += measure(item, shape);
    shape.pairs += (value.length * (values - 1)) / 2;
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      shape.names.add(name);
      values += measure(member, shape);
    }
  }
  return values;
}

interface Copying {
  readonly names: readonly string[];
  readonly pairs: number;
  nodes: number;
  patterns: number;
}

type Copied = Record<string, unknown>;

function copySchema(copying: Copying, schema: Json, level: number): unknown {
  if (!isJsonObject(schema)) return schema;
  if (level > LEVELS_MAX) throw new SchemaFaultError(`The response_schema nests more than ${LEVELS_MAX} levels.`);
  if (++copying.nodes > NODES_MAX) throw new SchemaFaultError(`The response_schema has more than ${NODES_MAX} parts.`);
  const inside = (value: Json): unknown => copySchema(copying, value, level + 1);
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (Array.isArray(value) && Object.hasOwn(schemaArrayKeyword, keyword))
      return [keyword, (value as readonly Json[]).map(inside)];
    const isMap = Object.hasOwn(schemaMapKeyword, keyword) || keyword === "dependencies";
    if (isMap && isJsonObject(value)) return [keyword, copyMembers(value, inside)];
    return Object.hasOwn(ignoredKeyword, keyword) ? [keyword, value] : [keyword, inside(value)];
  });
  const copy = Object.fromEntries(entries);
  replacePattern(copy, schema, copying);
  if (isJsonObject(copy["patternProperties"])) expandPatterns(copy, copying);
  if (typeof copy["format"] === "string") copy["format"] = boundedFormat(copy["format"]);
  return withCount(copy, schema, copying);
}

function copyMembers(map: JsonObject, copy: (value: Json) => unknown): object {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, copy(value)]));
}

/** The validator reads this member once on each visit; a schema of this dialect has none of its name. */
function withCount(copy: Copied, schema: JsonObject, { pairs }: Copying): Copied {
  const { enum: list, const: value, required, uniqueItems } = schema;
  const units = list === undefined && value === undefined ? 0 : JSON.stringify([list, value]).length;
  const names = Array.isArray(required) ? required.length : 0;
  const compared = uniqueItems === true ? pairs : 0;
  const steps = STEPS_PER_VISIT + (units + names + compared) / UNITS_PER_STEP;
  return Object.defineProperty(copy, "$recursiveAnchor", { get: () => spend(steps) });
}

/** prepared-schema.1. */
function replacePattern(copy: Copied, { pattern, format }: JsonObject, copying: Copying): void {
  if (typeof pattern !== "string") return;
  delete copy["pattern"];
  // Schema libraries add a pattern with lookaround to some formats: the check of the format stands for it.
  const isFormat = typeof format === "string" && Object.hasOwn(formats, format);
  if (isFormat && estimateCost(pattern) < PATTERN_COST_MAX && compileShort(pattern) === null) return;
  const { allOf } = copy;
  copy["allOf"] = [...(Array.isArray(allOf) ? (allOf as unknown[]) : []), { format: patternFormat(pattern, copying) }];
}

/** The members of the answer that a pattern matches become ordinary properties. */
function expandPatterns(copy: Copied, copying: Copying): void {
  const { patternProperties, properties } = copy as { patternProperties: JsonObject; properties?: Copied };
  const expanded = new Map<string, unknown>(Object.entries(properties ?? {}));
  delete copy["patternProperties"];
  for (const [pattern, schema] of Object.entries(patternProperties)) {
    const matches = matcher(patternFormat(pattern, copying));
    for (const name of copying.names) {
      if (!matches(name)) continue;
      const own = expanded.get(name);
      expanded.set(name, own === undefined ? schema : { allOf: [own, schema] });
    }
  }
  copy["properties"] = Object.fromEntries(expanded);
}

const PATTERN = "pattern ";
const FORMAT = "format ";

/** @returns the name of the format without the mark of its bounded form; null for a pattern */
export function formatName(name: string): string | null {
  return name.startsWith(PATTERN) ? null : name.slice(FORMAT.length);
}

type Matcher = (text: string) => boolean;
const registry = formats as unknown as Record<string, Matcher>;
/** Names that were added to the validator's formats. */
const added = new Set<string>();

function forgetMatchers(): void {
  for (const name of added) delete registry[name];
  added.clear();
}

function add(name: string, matches: Matcher): string {
  added.add(name);
  registry[name] = matches;
  return name;
}

function matcher(name: string): Matcher {
  return registry[name] as Matcher;
}

/** @throws {SchemaFaultError} */
function patternFormat(pattern: string, copying: Copying): string {
  const name = `${PATTERN}${pattern}`;
  copying.patterns += estimateCost(pattern);
  if (copying.patterns > PATTERN_COST_MAX)
    throw new SchemaFaultError(
      "The patterns of the response_schema are too large together: use fewer, or smaller counts.",
    );
  if (added.has(name)) return name;
  const linear = compileShort(pattern);
  if (linear === null)
    throw new SchemaFaultError(
      `The pattern ${JSON.stringify(pattern)} of the response_schema is none that RE2 has: write it without lookaround, backreferences and counts above 1000, in at most ${PATTERN_UNITS_MAX} characters.`,
    );
  return add(name, (text) => {
    spend(1 + text.length / UNITS_PER_STEP);
    return linear.test(text);
  });
}

function boundedFormat(format: string): string {
  const name = `${FORMAT}${format}`;
  const matches = Object.hasOwn(formats, format) ? matcher(format) : null;
  if (matches === null || added.has(name)) return name; // an unknown format checks nothing
  return add(name, (text) => {
    spend(text.length / UNITS_PER_STEP);
    return text.length <= FORMAT_UNITS_MAX && matches(text);
  });
}

/** A count repeats a character or class, or a group, which is at most the whole pattern. */
function estimateCost(pattern: string): number {
  const groups = [...pattern.matchAll(/\)\{\d/g)].length;
  let cost = pattern.length;
  for (const [, group, from = "0", to] of pattern.matchAll(/(\)?)\{(\d+)(?:,(\d*))?\}/g)) {
    const count = Math.min(Number(to === undefined || to === "" ? from : to), REPEATS_MAX);
    cost += group === "" ? count : pattern.length * (groups > 1 ? REPEATS_MAX : count);
  }
  return cost;
}

function compileShort(pattern: string): ReturnType<typeof compilePattern> {
  return pattern.length > PATTERN_UNITS_MAX ? null : compilePattern(pattern);
}
