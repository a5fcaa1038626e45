// Credentials: the API key of this browser, when the server asks for one. It goes into the header `x-api-key` and
// nowhere else: not into addresses, not into copied commands.
import { createValue } from "../hooks/value.ts";

const STORAGE_KEY = "holdpoint.api_key";

const stored = (): string | null => sessionStorage.getItem(STORAGE_KEY) ?? localStorage.getItem(STORAGE_KEY);

export const apiKey = createValue<string | null>(stored());

/** A call was refused for want of a key, or of a better one. */
export const keyWanted = createValue(false);

/** @param remember beyond this tab. */
export function setApiKey(key: string | null, remember: boolean): void {
  sessionStorage.removeItem(STORAGE_KEY);
  localStorage.removeItem(STORAGE_KEY);
  if (key !== null) (remember ? localStorage : sessionStorage).setItem(STORAGE_KEY, key);
  apiKey.set(key);
  keyWanted.set(false);
}
