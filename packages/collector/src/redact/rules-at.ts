// Rules at a place: which rules are about a value or a text, by part and path. Found once for each place of a request.
import { mayNameIn, namesPath, reachesInside, type PathPattern } from "./path-pattern.ts";
import type { Part } from "./parts.ts";
import type { RedactionRule } from "./redaction-rule.ts";

/** Part of a request, with the attribute key and the members inside its value. */
export interface PlaceName {
  readonly part: Part;
  readonly path: readonly string[];
}

/** A rule, and the patterns that decide by the text; null: it applies to every text. */
interface PossibleRule {
  readonly rule: RedactionRule;
  readonly inside: readonly PathPattern[] | null;
}

export interface Place extends PlaceName {
  /** The rule that takes the whole value. */
  readonly whole: RedactionRule | null;
  /** Rules that may take a value inside a text that is not JSON. */
  readonly wholeInside: readonly PossibleRule[];
  /** Rules that search a text. */
  readonly search: readonly PossibleRule[];
  /** Short texts in which they find nothing. */
  readonly clean: Set<string>;
  readonly below: Map<string, Place>;
}

interface Rules {
  readonly rules: readonly RedactionRule[];
  /** Places of one request. */
  readonly places: Map<string, Place>;
}

export function findPlace({ places, rules }: Rules, { part, path }: PlaceName): Place {
  const key = `${part} ${path.join(" ")}`;
  const place = places.get(key) ?? readPlace(rules, part, path);
  places.set(key, place);
  return place;
}

/** The place of a member of the value at `above`. */
export function placeBelow({ rules }: Rules, above: Place, member: string): Place {
  const place = above.below.get(member) ?? readPlace(rules, above.part, [...above.path, member]);
  above.below.set(member, place);
  return place;
}

function readPlace(all: readonly RedactionRule[], part: Part, path: readonly string[]): Place {
  const rules = all.filter(({ parts }) => parts.has(part));
  const inside = ({ paths }: RedactionRule): readonly PathPattern[] =>
    (paths ?? []).filter((pattern) => reachesInside(pattern, path));
  const names = ({ paths }: RedactionRule, orAbove: boolean): boolean =>
    (paths ?? []).some((pattern) => namesPath(pattern, path, orAbove));
  return {
    part,
    path,
    clean: new Set(),
    below: new Map(),
    whole: rules.find((rule) => rule.find === null && names(rule, false)) ?? null,
    wholeInside: rules
      .filter(({ find }) => find === null)
      .map((rule) => ({ rule, inside: inside(rule) }))
      .filter((one) => one.inside.length > 0),
    search: rules
      .filter(({ find }) => find !== null)
      .map((rule) => ({ rule, inside: rule.paths === null || names(rule, true) ? null : inside(rule) }))
      .filter(({ inside: patterns }) => patterns === null || patterns.length > 0),
  };
}

export function appliesToText({ inside }: PossibleRule, text: string): boolean {
  return inside === null || inside.some((pattern) => mayNameIn(pattern, text));
}
