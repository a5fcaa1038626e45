// Views: filtered lists with a name, of this browser, or of the person who has signed in (data/own-console.ts). A view
// is an address: it works as a link, too.
import { createValue } from "./value.ts";

export const VIEW_PAGES = ["/inbox", "/answered", "/threads"] as const;
export type ViewPage = (typeof VIEW_PAGES)[number];

export interface View {
  readonly name: string;
  readonly path: ViewPage;
  /** Members of the query. */
  readonly search: Readonly<Record<string, string>>;
}

/** Whether this browser keeps views and read marks. For a person who has signed in the server does. */
export const isKeptHere = createValue(true);

const KEY = "holdpoint.views";
const VIEWS_MAX = 50;
export const NAME_UNITS_MAX = 60;

/** Text of the storage → views; drops what is no view: other versions write there too. Pure. */
export function readViews(text: string | null): readonly View[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(list) ? list.flatMap(readView).slice(0, VIEWS_MAX) : [];
  } catch {
    return [];
  }
}

function readView(value: unknown): readonly View[] {
  const { name, path, search } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const page = VIEW_PAGES.find((one) => one === path);
  if (typeof name !== "string" || name.trim() === "" || page === undefined) return [];
  const members = Object.entries(typeof search === "object" && search !== null ? search : {}).filter(
    (member): member is [string, string] => typeof member[1] === "string",
  );
  return [{ name: name.slice(0, NAME_UNITS_MAX), path: page, search: Object.fromEntries(members) }];
}

/** A view of the same name is replaced; the others keep their order. Pure. */
export function withView(views: readonly View[], view: View, before = view.name): readonly View[] {
  const others = views.filter(({ name }) => name !== view.name || name === before);
  const at = others.findIndex(({ name }) => name === before);
  return at === -1 ? [...others, view].slice(-VIEWS_MAX) : others.with(at, view);
}

export const views = createValue<readonly View[]>([]);

/** Call once, at start: views of the storage, also as other tabs change them. */
export function loadViews(): void {
  const read = (): void => views.set(readViews(localStorage.getItem(KEY)));
  read();
  window.addEventListener("storage", (event) => event.key === KEY && isKeptHere.get() && read());
}

export function storeViews(next: readonly View[]): void {
  views.set(next);
  if (isKeptHere.get()) localStorage.setItem(KEY, JSON.stringify(next));
}
