// Keys of encryption at rest, from the settings or from the program of a key service.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import type { EncryptionKey } from "@holdpoint/base/keyring.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";

const COMMAND_MS = 10_000;

/** Newest first; none without encryption. @throws {ConfigError} */
export async function openKeys({
  encryptionKeys,
}: Pick<AgentConfig, "encryptionKeys">): Promise<readonly EncryptionKey[]> {
  if (encryptionKeys === null) return [];
  const { readKeys } = await import("@holdpoint/base/config/encryption-settings.ts");
  const fail = (reason: string): ConfigError => new ConfigError([{ name: "HOLDPOINT_ENCRYPTION_KEYS", reason }]);
  try {
    return await readKeys(encryptionKeys, async (program, args) => {
      try {
        return (await promisify(execFile)(program, [...args], { timeout: COMMAND_MS })).stdout;
      } catch (error) {
        const { code, killed } = error as { readonly code?: unknown; readonly killed?: boolean };
        throw fail(`${program} ${killed === true ? `took longer than ${COMMAND_MS} ms` : `failed (${String(code)})`}`);
      }
    });
  } catch (error) {
    throw error instanceof ConfigError ? error : fail(error instanceof Error ? error.message : String(error));
  }
}
