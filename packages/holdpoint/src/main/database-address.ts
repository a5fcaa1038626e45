// Database address: the settings of DATABASE_URI as the storage and the trace store read them.
import { type Config, ConfigError } from "@holdpoint/base/config/config.ts";
import type { DATABASE_SETTINGS } from "@holdpoint/base/config/shared-settings.ts";
import type { DatabaseAddress } from "@holdpoint/server/storage/postgres/client/address.ts";

/** Null without DATABASE_URI. @throws {ConfigError} for an address past the pooler alone: the data would be in a file */
export function readAddress(config: Config<typeof DATABASE_SETTINGS>): DatabaseAddress | null {
  const { databaseUri: uri, databaseDirectUri: directUri, databasePasswordCommand: passwordCommand } = config;
  if (uri !== null) return { uri, directUri, passwordCommand };
  if (directUri === null) return null;
  throw new ConfigError([{ name: "DATABASE_DIRECT_URI", reason: "goes with DATABASE_URI, which is not set" }]);
}
