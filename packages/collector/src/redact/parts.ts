// Parts: the parts of a request that a redaction rule can be about.
export const PARTS = [
  "attributes",
  "resource",
  "scope",
  "events",
  "links",
  "status",
  "body",
  "other",
  "names",
] as const;
export type Part = (typeof PARTS)[number];

/** Names of spans, events, scopes and metrics only where a rule asks for them. */
export const USUAL_PARTS: ReadonlySet<Part> = new Set(PARTS.filter((part) => part !== "names"));
