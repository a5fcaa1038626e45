// JSON search: finds a text in the member names and scalars of a value. Pure.

export interface FoundPath {
  /** `order.items[2].price` */
  readonly path: string;
  readonly value: unknown;
}

const NODES_MAX = 200_000;

/** @param max limit of matches; the search stops there. Case-insensitive. */
export function pathsIn(value: unknown, wanted: string, max: number): readonly FoundPath[] {
  const needle = wanted.toLowerCase();
  const found: FoundPath[] = [];
  const waiting: FoundPath[] = [{ path: "", value }];
  for (let seen = 0; waiting.length > 0 && seen < NODES_MAX && found.length < max; seen++) {
    const next = waiting.pop();
    if (next === undefined) break;
    const { path, value: one } = next;
    const isScalar = typeof one !== "object" || one === null;
    const name = /[^.[\]]*\]?$/.exec(path)?.[0] ?? "";
    if ((path !== "" && name.toLowerCase().includes(needle)) || (isScalar && formatScalar(one).includes(needle)))
      found.push({ path: path === "" ? "value" : path, value: one });
    else if (!isScalar) waiting.push(...listMembers(path, one).reverse());
  }
  return found;
}

function listMembers(path: string, value: object): FoundPath[] {
  if (Array.isArray(value))
    return (value as readonly unknown[]).map((one, at) => ({ path: `${path}[${at}]`, value: one }));
  return Object.entries(value).map(([key, one]) => ({
    path: path === "" ? key : `${path}.${key}`,
    value: one as unknown,
  }));
}

function formatScalar(scalar: unknown): string {
  return (typeof scalar === "string" ? scalar : (JSON.stringify(scalar) ?? "")).toLowerCase();
}
