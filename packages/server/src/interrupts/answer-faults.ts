// Answer faults: the messages of the schema validator → what is wrong with an answer, in words. Pure.
import type { OutputUnit } from "@cfworker/json-schema";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { formatName } from "./prepared-schema.ts";

/** `message` follows its subject: "should be a number, and is the text "12"". */
export interface AnswerFault {
  /** `decisions.0.type`; "" for the whole answer. */
  readonly path: string;
  readonly message: string;
}

/** Keywords that only say that something inside does not fit. */
const CONTAINERS = new Set([
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "allOf",
  "if",
  "then",
  "else",
  "$ref",
  "dependentSchemas",
  "propertyNames",
]);
const CHOICES = new Set(["anyOf", "oneOf"]);
const FAULTS_MAX = 20;

export function faultsIn(units: readonly OutputUnit[], answer: Json): readonly AnswerFault[] {
  const faults: AnswerFault[] = [];
  for (let at = 0; at < units.length && faults.length < FAULTS_MAX;) {
    const unit = units[at] as OutputUnit;
    if (!CHOICES.has(unit.keyword)) {
      if (!CONTAINERS.has(unit.keyword)) faults.push(toFault(unit, answer));
      at++;
      continue;
    }
    const inside = countInside(units, at);
    faults.push(...choiceFaults(unit, units.slice(at + 1, at + 1 + inside), answer));
    at += 1 + inside;
  }
  return withoutEchoes(faults);
}

/** The number of messages about the schemas of the choice at this place. */
function countInside(units: readonly OutputUnit[], at: number): number {
  const { keywordLocation } = units[at] as OutputUnit;
  let count = 0;
  while (units[at + 1 + count]?.keywordLocation.startsWith(`${keywordLocation}/`) === true) count++;
  return count;
}

/** The one schema whose fixed members the answer has says more than "none fits". */
function choiceFaults(unit: OutputUnit, inside: readonly OutputUnit[], answer: Json): readonly AnswerFault[] {
  const branches = [...Map.groupBy(inside, (one) => nameBranch(unit, one)).values()];
  const meant = branches.filter((branch) => !branch.some((fault) => isOfAnother(unit, fault)));
  const [only, ...others] = meant;
  if (only !== undefined && others.length === 0) return faultsIn(only, answer);
  const fixed = inside.filter((fault) => fault.keyword === "const" && isOfAnother(unit, fault));
  const path = parsePath(unit.instanceLocation);
  if (meant.length > 0 || fixed.length < branches.length)
    return [{ path, message: "matches none of the allowed schemas" }];
  const values = fixed.map(({ error }) => /match (.*)\.$/s.exec(error)?.[1] ?? "");
  return [{ path: parsePath(fixed[0]?.instanceLocation ?? ""), message: `should be one of ${values.join(", ")}` }];
}

/** The schema means a value of another type, or one with another fixed member. */
function isOfAnother({ instanceLocation: place }: OutputUnit, { keyword, instanceLocation }: OutputUnit): boolean {
  if (keyword === "type") return instanceLocation === place;
  return (
    keyword === "const" && instanceLocation.startsWith(`${place}/`) && !instanceLocation.includes("/", place.length + 1)
  );
}

function nameBranch({ keywordLocation: choice }: OutputUnit, { keywordLocation }: OutputUnit): string {
  return keywordLocation.slice(choice.length + 1).split("/")[0] ?? "";
}

/** A member refused inside is refused again by the schema around it. */
function withoutEchoes(faults: readonly AnswerFault[]): readonly AnswerFault[] {
  const isEcho = ({ path, message }: AnswerFault): boolean =>
    message === UNKNOWN_MEMBER &&
    faults.some((other) => other.path.startsWith(`${path}.`) || (other.path === path && other.message !== message));
  return faults.filter((fault) => !isEcho(fault));
}

const UNKNOWN_MEMBER = "is not a member of its schema";

function toFault({ keyword, instanceLocation, error }: OutputUnit, answer: Json): AnswerFault {
  const path = parsePath(instanceLocation);
  if (keyword === "false") return { path, message: UNKNOWN_MEMBER };
  if (keyword === "required") {
    const name = /property "(.*)"/s.exec(error)?.[1] ?? "";
    return { path: path === "" ? name : `${path}.${name}`, message: "is missing" };
  }
  if (keyword === "type") {
    const expected = /Expected "(.*)"\.$/s.exec(error)?.[1] ?? "";
    const article = /^[aeio]/.test(expected) ? "an" : "a";
    return { path, message: `should be ${article} ${expected}, and ${described(valueAt(answer, path))}` };
  }
  if (keyword === "const" || keyword === "enum")
    return {
      path,
      message: `should be ${error
        .replace(/^Instance does not match (any of )?/, "$1")
        .replace(/\.$/, "")
        .replace("any of", "one of")}`,
    };
  if (keyword === "format") {
    const format = formatName(/format "(.*)"/s.exec(error)?.[1] ?? "");
    return {
      path,
      message:
        format === null ? "must match pattern of its schema" : `does not fit: String does not match format "${format}"`,
    };
  }
  return { path, message: `does not fit: ${error.replace(/\.$/, "")}` };
}

/** `#/decisions/0/type` → `decisions.0.type`. */
function parsePath(location: string): string {
  const steps = location.split("/").slice(1);
  return steps.map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
}

function valueAt(value: Json, path: string): Json | undefined {
  let found: Json | undefined = value;
  for (const name of path === "" ? [] : path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as JsonObject)[name];
  }
  return found;
}

function described(given: Json | undefined): string {
  if (given === undefined) return "is missing";
  if (given === null) return "is null";
  if (typeof given === "string") return `is the text ${JSON.stringify(given.slice(0, 40))}`;
  if (Array.isArray(given)) return "is a list";
  return typeof given === "object" ? "is an object" : `is ${JSON.stringify(given)}`;
}
