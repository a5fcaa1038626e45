// Own console: views, read marks and the inbox's tab of a person who has signed in, kept by the server, so that they are
// the same in every browser of the person, and nobody else's in this one.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { OwnConsole } from "@holdpoint/api/identity.ts";
import { useCaller } from "../api/caller.ts";
import { call } from "../api/client.ts";
import { ApiProblem, problemMessage } from "../api/problem.ts";
import { inboxTab } from "../hooks/preferences.ts";
import { isKeptHere, readViews, views } from "../hooks/views.ts";
import { showToast } from "../ui/toast.tsx";
import { seen } from "./inbox/seen.ts";
import { mergeKept, SEEN_MAX, type Kept } from "./inbox/kept.ts";

const PATH = "/people/me/console";
/** Changes in a row are one call. */
const PATIENCE_MS = 300;
/** Browsers send no more after the page is closed. */
const KEEPALIVE_UNITS_MAX = 50_000;

/** Mounted once, by the frame. */
export function useOwnConsole(): void {
  const caller = useCaller();
  const queries = useQueryClient();
  const name = caller?.signed_in === true ? caller.name : null;
  useEffect(() => (name === null ? undefined : follow(name, () => void queries.resetQueries())), [name, queries]);
}

/** @param onOther another person has signed in since, in another tab @returns ends it */
function follow(name: string, onOther: () => void): () => void {
  let base: Kept | null = null;
  let revision = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasFailed = false;
  const ended = new AbortController();
  const adopt = (stored: OwnConsole): void => {
    if (stored.person !== name) {
      onOther();
      throw new DOMException("another person", "AbortError");
    }
    const theirs = { views: readViews(JSON.stringify(stored.views)), seen: stored.seen, tab: stored.tab };
    // What this browser kept before the sign-in is the person's now.
    show(mergeKept(base ?? NOTHING, readShown(), theirs));
    ({ revision } = stored);
    base = theirs;
    isKeptHere.set(false);
    for (const key of ["holdpoint.views", "holdpoint.seen"]) localStorage.removeItem(key);
  };
  const load = async (): Promise<void> => {
    const stored = await call<OwnConsole>("GET", PATH, { signal: ended.signal });
    ended.signal.throwIfAborted();
    adopt(stored);
    push();
  };
  const send = async (keepalive = false): Promise<void> => {
    clearTimeout(timer);
    const shown = readShown();
    if (base === null || JSON.stringify(shown) === JSON.stringify(base)) return;
    const body = { revision, ...shown };
    try {
      const stored = await call<OwnConsole>("PUT", PATH, { body, keepalive });
      ended.signal.throwIfAborted();
      base = shown;
      ({ revision } = stored);
      hasFailed = false;
      push(); // what has changed meanwhile
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.code !== "console_changed") throw error;
      await load();
    }
  };
  const tell = (error: unknown): void => {
    if (ended.signal.aborted || hasFailed || (error instanceof DOMException && error.name === "AbortError")) return;
    hasFailed = true; // the next change tries again
    showToast(`Views and read marks are not saved: ${problemMessage(error)}`, { tone: "red" });
  };
  const push = (): void => {
    clearTimeout(timer);
    if (base !== null) timer = setTimeout(() => void send().catch(tell), PATIENCE_MS);
  };
  const look = (): void => {
    if (document.visibilityState === "visible") void load().catch(tell);
    else void send(JSON.stringify(readShown()).length < KEEPALIVE_UNITS_MAX).catch(tell);
  };
  void load().catch(
    (error: unknown) => (error instanceof ApiProblem && error.code === "person_not_found") || tell(error),
  );
  const ends = [views, seen, inboxTab].map((value) => value.subscribe(push));
  document.addEventListener("visibilitychange", look);
  return () => {
    ended.abort();
    clearTimeout(timer);
    for (const end of ends) end();
    document.removeEventListener("visibilitychange", look);
    if (base !== null) show(NOTHING); // the next person in this browser begins without them
    isKeptHere.set(true);
  };
}

const NOTHING: Kept = { views: [], seen: [], tab: "" };

const readShown = (): Kept => ({ views: views.get(), seen: [...seen.get()].slice(-SEEN_MAX), tab: inboxTab.get() });

function show(kept: Kept): void {
  views.set(kept.views);
  seen.set(new Set(kept.seen));
  inboxTab.set(kept.tab);
}
