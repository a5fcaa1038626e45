// Storage port for the keys of programs.
import type { StoredKey } from "../../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

export interface KeyTx {
  insertKey(key: StoredKey): Awaitable<void>;
  keyByHash(hash: string): Awaitable<StoredKey | null>;
  /** All, the oldest first. */
  keys(): Awaitable<readonly StoredKey[]>;
  /** Several keys may share a name; expired ones count too. */
  keysNamed(name: string): Awaitable<readonly StoredKey[]>;
  countKeys(): Awaitable<number>;
  markKeyUsed(keyId: string, at: number): Awaitable<void>;
  /** @returns the deleted key */
  deleteKey(keyId: string): Awaitable<StoredKey | null>;
}
