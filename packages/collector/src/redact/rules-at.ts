// Rules at a place: which rules are about a value or a text, by part and path. Found once for each place: senders repeat
// their attributes, so places outlive a request.
// Invariant: what the places of some rules keep has a bound, PLACES_MAX.
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

/** What is known of the places of some rules. */
export interface Places {
  readonly rules: readonly RedactionRule[];
  /** The other places are below these. */
  readonly parts: Map<Part, Place>;
  /** Number of the places and of their clean texts. */
  size: number;
}

const PLACES_MAX = 20_000;

/** Places for these rules: the given ones, if they are of the same rules and not too many. */
export function choosePlaces(known: Places | null, rules: readonly RedactionRule[]): Places {
  const isSame = known?.rules.length === rules.length && rules.every((rule, at) => rule === known.rules[at]);
  return isSame && known.size < PLACES_MAX ? known : { rules, parts: new Map(), size: 0 };
}

export function findPlace(places: Places, { part, path }: PlaceName): Place {
  const whole = places.parts.get(part) ?? readPlace(places.rules, part, []);
  places.parts.set(part, whole);
  return path.reduce((above, member) => placeBelow(places, above, member), whole);
}

/** The place of a member of the value at `above`. */
export function placeBelow(places: Places, above: Place, member: string): Place {
  const known = above.below.get(member);
  if (known !== undefined) return known;
  const place = readPlace(places.rules, above.part, [...above.path, member]);
  if (hasRoom(places)) above.below.set(member, place);
  return place;
}

/** The rules at the place find nothing in this short text. */
export function noteClean(places: Places, place: Place, text: string): void {
  if (hasRoom(places)) place.clean.add(text);
}

/** Counts one more, if there is room for it. */
function hasRoom(places: Places): boolean {
  if (places.size >= PLACES_MAX) return false;
  places.size += 1;
  return true;
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
