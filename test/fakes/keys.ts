// Keys of encryption at rest that a whole test file runs with: a file of its own sets the variable, and imports the
// tests (`*.sealed.long.test.ts`).
import { createKeyring, parseKeys, type Keyring } from "@holdpoint/base/keyring.ts";

const keys = process.env["HOLDPOINT_ENCRYPTION_KEYS"] ?? "";

/** For the environment of what is under test. */
export const runKeys: Readonly<Record<string, string>> = keys === "" ? {} : { HOLDPOINT_ENCRYPTION_KEYS: keys };
export const runRing: Keyring | null = keys === "" ? null : createKeyring(parseKeys(keys));
