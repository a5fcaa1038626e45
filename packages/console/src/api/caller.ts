// Caller: the person or program that the server sees, and the permissions of its role. The console offers nothing
// else; the server checks every call anyway.
import { useQuery } from "@tanstack/react-query";
import { createValue, useValue } from "../hooks/value.ts";
import { call, request } from "./client.ts";
import { callerName } from "./credentials.ts";

export interface Caller {
  /** Null without authentication. */
  readonly name: string | null;
  readonly display_name: string | null;
  readonly email: string | null;
  readonly groups: readonly string[];
  /** Null where handlers of the deployment decide, and without authentication. */
  readonly role: string | null;
  /** Events that the role may cause, as `x-access` of the API names them; null where only each call decides. */
  readonly may: readonly string[] | null;
  /** By a session, not by a key. */
  readonly signed_in: boolean;
}

const FRESH_MS = 5 * 60_000;
/** A session gets its new tokens with this call. */
const RENEW_MS = 15 * 60_000;

const current = createValue<Caller | null>(null);

/** Loads the caller and keeps the session alive. Mounted once, by the frame. */
export function useCallerLoaded(): void {
  useQuery({
    queryKey: ["caller"],
    queryFn: async ({ signal }) => {
      const caller = await call<Caller>("GET", "/console/api/caller", { signal });
      current.set(caller);
      callerName.set(caller.name);
      return caller;
    },
    staleTime: FRESH_MS,
    refetchInterval: RENEW_MS,
  });
}

export function useCaller(): Caller | null {
  return useValue(current);
}

/** Why the caller may not cause this event; null if it may, or if only the call can say. */
export function findRefusal(event: string | undefined, caller = current.get()): string | null {
  if (event === undefined || caller === null || caller.may === null || caller.may.includes(event)) return null;
  return `Your role, ${caller.role ?? "none"}, does not allow this.`;
}

export function useRefusal(event: string | undefined): string | null {
  return findRefusal(event, useCaller());
}

/** Whether the caller may not answer items of the inbox. */
export function useReadOnly(): boolean {
  return useRefusal("threads:answer") !== null;
}

export const READ_ONLY = "Your role may only read.";

/** Ends the session, here and at the provider. */
export async function signOut(): Promise<void> {
  const reply = await request("POST", "/auth/sign-out");
  const { url } = (await reply.json()) as { readonly url: string };
  window.location.assign(url);
}
