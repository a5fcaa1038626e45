// Keys of encryption at rest, from the settings or from the program of a key service.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createKeyring, type EncryptionKey, type Keyring } from "../keyring.ts";
import { ConfigError } from "./config.ts";
import { readKeys } from "./encryption-settings.ts";

const COMMAND_MS = 10_000;

/** @param reason why the keys of the process do not fit what is stored */
export function refuseKeys(reason: string): ConfigError {
  return new ConfigError([{ name: "HOLDPOINT_ENCRYPTION_KEYS", reason }]);
}

/** Newest first; none without encryption. @throws {ConfigError} */
export async function openKeys(config: { readonly encryptionKeys: string | null }): Promise<readonly EncryptionKey[]> {
  try {
    return await readKeys(config.encryptionKeys, async (program, args) => {
      try {
        return (await promisify(execFile)(program, [...args], { timeout: COMMAND_MS })).stdout;
      } catch (error) {
        const { code, killed } = error as { readonly code?: unknown; readonly killed?: boolean };
        const reason = killed === true ? `took longer than ${COMMAND_MS} ms` : `failed (${String(code)})`;
        throw refuseKeys(`${program} ${reason}`);
      }
    });
  } catch (error) {
    throw error instanceof ConfigError ? error : refuseKeys(error instanceof Error ? error.message : String(error));
  }
}

/** Null without encryption. @throws {ConfigError} */
export async function openKeyring(config: { readonly encryptionKeys: string | null }): Promise<Keyring | null> {
  const keys = await openKeys(config);
  return keys.length === 0 ? null : createKeyring(keys);
}
