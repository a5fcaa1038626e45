// Storage port for the keys of programs.
import type { StoredKey } from "../../model/model.ts";
import type { Awaitable } from "../results/awaitable.ts";

export interface KeyTx {
  insertKey(key: StoredKey): Awaitable<void>;
  keyByHash(hash: string): Awaitable<StoredKey | null>;
  /** All, the oldest first. */
  keys(): Awaitable<readonly StoredKey[]>;
  isKeyName(name: string): Awaitable<boolean>;
  countKeys(): Awaitable<number>;
  markKeyUsed(keyId: string, at: number): Awaitable<void>;
  /** @returns the deleted key */
  deleteKey(keyId: string): Awaitable<StoredKey | null>;
}
