// Access: how callers authenticate, by the settings: keys and sign-in with roles, handlers of the deployment, or not at
// all.
import type { CallerSource } from "../agent/auth/role-access.ts";
import type { Access, Storage } from "../agent/ports/ports.ts";
import type { AgentConfig } from "../agent/server/settings.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log/log.ts";
import type { GraphsConfig } from "../graphs/config/langgraph-json.ts";

export interface AccessParts {
  readonly config: AgentConfig;
  readonly graphs: GraphsConfig;
  readonly log: Log;
  readonly storage: Storage;
  readonly clock: Clock;
}

/** @returns null without authentication */
export async function openAccess({ config, graphs, log, storage, clock }: AccessParts): Promise<Access | null> {
  if (graphs.auth !== null) {
    const { loadAuth } = await import("../graphs/extensions/auth-handlers.ts");
    return loadAuth(graphs.auth, graphs.folder, log);
  }
  if (config.apiKeys === null) return null;
  for (const { name, weak } of config.apiKeys) if (weak) log.warning("api_key_short", { name });
  const [{ apiKeySource }, { storedKeySource }, { createRoleAccess }] = await Promise.all([
    import("../agent/auth/api-keys.ts"),
    import("../agent/auth/stored-keys.ts"),
    import("../agent/auth/role-access.ts"),
  ]);
  const sources: readonly CallerSource[] = [apiKeySource(config.apiKeys), storedKeySource({ storage, clock })];
  return createRoleAccess(sources);
}
