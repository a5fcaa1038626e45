// Own console: views, read marks and the inbox's tab of a person who has signed in, kept by the server, so that they are
// the same in every browser of the person, and nobody else's in this one.
import { useEffect } from "react";
import type { OwnConsole } from "@holdpoint/api/identity.ts";
import { useCaller } from "../api/caller.ts";
import { call } from "../api/client.ts";
import { isKeptHere } from "../hooks/kept-here.ts";
import { inboxTab } from "../hooks/preferences.ts";
import { readViews, views, type View } from "../hooks/views.ts";
import { seen, SEEN_MAX } from "./inbox/seen.ts";

const PATH = "/people/me/console";
/** Changes in a row are one call. */
const PATIENCE_MS = 300;

/** Mounted once, by the frame. */
export function useOwnConsole(): void {
  const caller = useCaller();
  const name = caller?.signed_in === true ? caller.name : null;
  useEffect(() => (name === null ? undefined : follow()), [name]);
}

/** @returns ends it */
function follow(): () => void {
  let known = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLoaded = false;
  const ended = new AbortController();
  const load = async (): Promise<void> => {
    const stored = await call<OwnConsole | null>("GET", PATH, { signal: ended.signal });
    ended.signal.throwIfAborted();
    if (stored !== null) {
      known = JSON.stringify(stored);
      views.set(readViews(JSON.stringify(isLoaded ? stored.views : [...stored.views, ...findOthers(stored)])));
      seen.set(new Set(isLoaded ? stored.seen : [...seen.get(), ...stored.seen]));
      inboxTab.set(stored.tab);
    }
    isLoaded = true;
    isKeptHere.set(false);
    for (const key of ["holdpoint.views", "holdpoint.seen"]) localStorage.removeItem(key); // they are the person's now
    push();
  };
  const send = async (): Promise<void> => {
    const body = { views: views.get(), seen: [...seen.get()].slice(-SEEN_MAX), tab: inboxTab.get() };
    const text = JSON.stringify(body);
    if (text === known) return;
    await call("PUT", PATH, { body });
    known = text;
  };
  const push = (): void => {
    if (!isLoaded) return;
    clearTimeout(timer);
    timer = setTimeout(() => void send().catch(ignore), PATIENCE_MS); // the next change tries again
  };
  const look = (): void => {
    if (document.visibilityState === "visible") void load().catch(ignore);
  };
  void load().catch(ignore); // a person of another sign-in: this browser keeps them
  const ends = [views, seen, inboxTab].map((value) => value.subscribe(push));
  document.addEventListener("visibilitychange", look);
  return () => {
    ended.abort();
    clearTimeout(timer);
    for (const end of ends) end();
    document.removeEventListener("visibilitychange", look);
    isKeptHere.set(true);
    if (!isLoaded) return;
    views.set([]); // the next person in this browser begins without them
    seen.set(new Set());
    inboxTab.set("");
  };
}

/** Views that this browser kept before the person signed in. */
const findOthers = (stored: OwnConsole): readonly View[] =>
  views.get().filter(({ name }) => !stored.views.some((one) => one.name === name));

const ignore = (): void => undefined;
