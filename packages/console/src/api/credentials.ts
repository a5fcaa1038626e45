// Credentials: the API key of this browser, if the server requires one. It goes into the header `x-api-key` only: never
// into URLs or copied commands.
import { createValue } from "../hooks/value.ts";

const STORAGE_KEY = "holdpoint.api_key";

const stored = (): string | null => sessionStorage.getItem(STORAGE_KEY) ?? localStorage.getItem(STORAGE_KEY);

export const apiKey = createValue<string | null>(stored());

/** A call failed because of a missing or insufficient key. */
export const keyRequired = createValue(false);

/** Address of the sign-in, if a call failed without one. */
export const signInAt = createValue<string | null>(null);

/** Name that the server has for this browser; null without authentication, and before it is known. */
export const callerName = createValue<string | null>(null);

/** @param remember keep it after the tab closes. */
export function setApiKey(key: string | null, remember: boolean): void {
  sessionStorage.removeItem(STORAGE_KEY);
  localStorage.removeItem(STORAGE_KEY);
  if (key !== null) (remember ? localStorage : sessionStorage).setItem(STORAGE_KEY, key);
  apiKey.set(key);
  keyRequired.set(false);
  signInAt.set(null);
}
