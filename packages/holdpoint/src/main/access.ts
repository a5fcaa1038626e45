// Access: how callers authenticate, by the settings: keys and sign-in with roles, handlers of the deployment, or not at
// all.
// Invariants:
//   - One of them decides about every caller: handlers beside keys or sign-in prevent the start.
//   - Sign-in starts complete or not at all: each missing setting is named.
import type { Refusals } from "@holdpoint/server/auth/refusals.ts";
import type { CallerSource } from "@holdpoint/server/auth/role-access.ts";
import type { RoleRule } from "@holdpoint/server/auth/role-rules.ts";
import type { SignInPorts } from "@holdpoint/server/auth/sign-in.ts";
import type { Access, AccessChanges, Storage } from "@holdpoint/server/ports/ports.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { ConfigProblem } from "@holdpoint/base/config/config.ts";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { GraphsConfig } from "@holdpoint/server/graphs/config/langgraph-json.ts";

export interface AccessParts {
  readonly config: AgentConfig;
  readonly graphs: GraphsConfig;
  readonly log: Log;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly newId: NewId;
  /** `""`, or the prefix of all paths. */
  readonly prefix: string;
}

export interface OpenedAccess {
  /** Null without authentication. */
  readonly access: Access | null;
  /** Null without sign-in. */
  readonly signIn: SignInPorts | null;
  /** Null without authentication. */
  readonly refusals: Refusals | null;
}

type Deployment = Pick<GraphsConfig, "auth">;

/** Whether callers authenticate at all. */
export function authenticates({ apiKeys, oidcIssuer }: AgentConfig, { auth }: Deployment): boolean {
  return apiKeys !== null || oidcIssuer !== null || auth !== null;
}

/** @param reachable whether other machines reach the server @throws {ConfigError} */
export async function checkAuthentication(config: AgentConfig, graphs: Deployment, reachable: boolean): Promise<void> {
  const problems = [...conflicts(config, graphs), ...gaps(config, reachable)];
  if (problems.length === 0) return;
  const { ConfigError } = await import("@holdpoint/base/config/config.ts");
  throw new ConfigError(problems);
}

function conflicts({ apiKeys, oidcIssuer }: AgentConfig, { auth }: Deployment): readonly ConfigProblem[] {
  const set = { HOLDPOINT_API_KEYS: apiKeys, HOLDPOINT_OIDC_ISSUER: oidcIssuer };
  if (auth === null) return [];
  const reason =
    "is set, and the configuration file has auth.path: callers authenticate either with keys and sign-in or through handlers";
  return Object.entries(set).flatMap(([name, value]) => (value === null ? [] : [{ name, reason }]));
}

function gaps(config: AgentConfig, reachable: boolean): readonly ConfigProblem[] {
  const needed = (name: string, why: string): ConfigProblem => ({ name, reason: `is not set; ${why}` });
  const { oidcIssuer, oidcClientId, roleRules } = config;
  if (oidcIssuer === null) {
    const why = "the other settings of sign-in have no effect without it";
    return oidcClientId === null ? [] : [needed("HOLDPOINT_OIDC_ISSUER", why)];
  }
  return [
    ...(oidcClientId === null ? [needed("HOLDPOINT_OIDC_CLIENT_ID", "sign-in needs it")] : []),
    ...(roleRules === null ? [needed("HOLDPOINT_ROLES", "nobody who signs in would have access")] : []),
    ...(config.publicUrl === null && reachable
      ? [needed("HOLDPOINT_PUBLIC_URL", "the provider sends browsers back to this address")]
      : []),
    ...(config.console
      ? []
      : [{ name: "HOLDPOINT_CONSOLE", reason: "is off, and people sign in at the console: remove one of both" }]),
  ];
}

export async function openAccess(parts: AccessParts): Promise<OpenedAccess> {
  const { config, graphs, log, storage, clock, prefix } = parts;
  const { createRefusals, noteRefusals } = await import("@holdpoint/server/auth/refusals.ts");
  const refusals = createRefusals({ storage, clock, log });
  if (graphs.auth !== null) {
    const { loadAuth } = await import("@holdpoint/server/graphs/extensions/auth-handlers.ts");
    return { access: noteRefusals(await loadAuth(graphs.auth, graphs.folder, log), refusals), signIn: null, refusals };
  }
  if (!authenticates(config, graphs)) return { access: null, signIn: null, refusals: null };
  const keys = config.apiKeys ?? [];
  for (const { name, weak } of keys) if (weak) log.warning("api_key_short", { name });
  const [{ createAccessChanges }, { apiKeySource }, { storedKeySource }, { createRoleAccess }] = await Promise.all([
    import("@holdpoint/server/auth/access-changes.ts"),
    import("@holdpoint/server/auth/api-keys.ts"),
    import("@holdpoint/server/auth/stored-keys.ts"),
    import("@holdpoint/server/auth/role-access.ts"),
  ]);
  const changes = createAccessChanges();
  const signIn = await openSignIn(parts, changes, refusals);
  const programs: readonly CallerSource[] = [apiKeySource(keys), storedKeySource({ storage, clock })];
  const sources = signIn === null ? programs : [...programs, signIn.sessions.source];
  const people = signIn === null ? null : { path: `${prefix}/auth/sign-in`, rules: signIn.rules };
  const access = createRoleAccess(sources, people, { keys, clock }, changes);
  return { access: noteRefusals(access, refusals), signIn, refusals };
}

async function openSignIn(parts: AccessParts, changes: AccessChanges, refusals: Refusals): Promise<SignInPorts | null> {
  const { config, log, storage, clock, newId, prefix } = parts;
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcScopes: scopes } = config;
  if (issuer === null || clientId === null) return null;
  const [{ createIdentityProvider }, { createSessions }, { createCookies }] = await Promise.all([
    import("@holdpoint/server/openid/provider.ts"),
    import("@holdpoint/server/auth/sessions.ts"),
    import("@holdpoint/server/auth/cookies.ts"),
  ]);
  const rules: readonly RoleRule[] = config.roleRules ?? [];
  const cookies = createCookies({ secure: config.publicUrl?.startsWith("https:") ?? false, path: prefix });
  const times = { idleMs: config.sessionIdleMs, lifeMs: config.sessionLifeMs };
  return {
    storage,
    clock,
    log,
    refusals,
    rules,
    cookies,
    provider: createIdentityProvider({ issuer, clientId, clientSecret, scopes }, clock.monotonic),
    sessions: createSessions({ storage, clock, newId, cookies, rules, changes, ...times, publicUrl: config.publicUrl }),
    claims: { name: config.oidcNameClaim, groups: config.oidcGroupsClaim },
    keyNames: new Set((config.apiKeys ?? []).map(({ name }) => name)),
  };
}
