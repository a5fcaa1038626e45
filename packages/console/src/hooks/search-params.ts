// Search params: the query of a URL, as texts. People type URLs too: invalid members are dropped.

const TEXT_UNITS_MAX = 2048;

/** For the whole router: a page also sees the members that its own readTexts() leaves out. `span=` stands for no span. */
export function dropInvalid(search: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => isText(value)));
}

const isText = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value) && value !== "";

/** @returns the members of `names` with a text in the URL; `tab=42` arrives as a number. */
export function readTexts<const Name extends string>(
  search: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): { readonly [Key in Name]?: string | undefined } {
  const found: { [Key in Name]?: string } = {};
  for (const name of names) {
    const value = search[name];
    if (isText(value)) found[name] = String(value).slice(0, TEXT_UNITS_MAX);
  }
  return found;
}

/** "a,b" → ["a", "b"]; nothing → []. */
export function readList(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split(",").filter((one) => one !== "");
}

/** ["a", "b"] → "a,b"; [] → undefined, which removes the member from the URL. */
export function writeList(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : items.join(",");
}

/** Breakpoints in the URL, as "before node" and "after node". */
export function breakpointWords(search: {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}): readonly string[] {
  return [
    ...readList(search.before).map((node) => `before ${node}`),
    ...readList(search.after).map((node) => `after ${node}`),
  ];
}
