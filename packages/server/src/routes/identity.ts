// Routes of people and keys: parse → operation → reply.
import * as contract from "@holdpoint/api/identity.ts";
import type { OwnConsole } from "@holdpoint/api/identity.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import { parseRoleLimits } from "../auth/role-limits.ts";
import { createKey, revokeKey } from "../auth/stored-keys.ts";
import { erasePerson } from "../threads/erase-person.ts";
import type { AgentContext } from "../context/context.ts";
import type { Caller, Person, RoleLimits, StoredKey } from "../model/model.ts";
import { NO_CONTENT, type AgentRoute, id, json, route } from "./route.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { Storage } from "../ports/ports.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export function identityRoutes(agent: AgentContext): readonly AgentRoute[] {
  const { storage, clock, log } = agent;
  return [
    route(contract.createKey, async ({ body, caller }) => {
      requireRoles(caller);
      const days = body.expires_in_days ?? null;
      const { stored, key } = await createKey(agent, caller, {
        name: body.name,
        role: body.role,
        limits: requireLimits(body.assistants, body.metadata),
        expiresAt: days === null ? null : clock.now() + Math.ceil(days * DAY_MS),
      });
      log.info("key_created", { key: stored.keyId, name: stored.name, role: stored.role, by: caller.name });
      return json({ ...keyObject(stored), key });
    }),
    route(contract.listKeys, async () => {
      const keys = await storage.read((tx) => tx.keys());
      return json({ keys: keys.map(keyObject) });
    }),
    route(contract.revokeKey, async ({ ids, caller }) => {
      const { keyId, name } = await revokeKey(agent, caller, id(ids, "key_id"));
      agent.access?.changes?.ended(name);
      log.info("key_revoked", { key: keyId, name, by: caller.name });
      return NO_CONTENT;
    }),
    route(contract.listPeople, async ({ query: { group = null, after = null, limit }, scope }) => {
      // People have no metadata: the list cannot be cut to one tenant.
      if (scope !== null) throw new ApiError("forbidden", "The list has everybody, and your access is limited.");
      const people = await storage.read((tx) => tx.people({ group, after, limit }));
      const last = people.length < limit ? null : (people.at(-1)?.name ?? null);
      return json({ people: people.map(personObject), next_after: last });
    }),
    route(contract.readOwnConsole, async ({ caller }) => {
      const found = await storage.read((tx) => tx.personConsole(requirePerson(caller)));
      if (found === null) throw notSignedIn();
      return json(consoleObject(caller.name, found.text));
    }),
    route(contract.writeOwnConsole, async ({ body: { revision, ...own }, caller }) => {
      const name = requirePerson(caller);
      const replace = (text: string | null): string => {
        if (consoleObject(name, text).revision === revision) return JSON.stringify(own);
        throw new ApiError("console_changed", "It has changed since it was read, or another person has signed in.");
      };
      const text = await storage.transaction((tx) => tx.changePersonConsole(name, replace));
      if (text === null) throw notSignedIn();
      return json(consoleObject(name, text));
    }),
    route(contract.erasePerson, async ({ ids, body: { dry_run: dryRun, cursor }, caller, scope }) => {
      if (scope !== null) throw new ApiError("forbidden", "An erasure reaches all data, and your access is limited.");
      const step = { person: id(ids, "person"), dryRun, cursor: cursor ?? null };
      const { pseudonym, places, isComplete, next } = await erasePerson(agent, caller, step);
      return json({ pseudonym, dry_run: dryRun, places, complete: isComplete, next_cursor: next });
    }),
    route(contract.deletePerson, async ({ ids, caller }) => {
      const name = id(ids, "person");
      await removePerson(agent, caller, name);
      agent.access?.changes?.ended(name);
      log.info("person_removed", { name, by: caller.name });
      return NO_CONTENT;
    }),
  ];
}

/** @param text null: nothing is stored yet */
function consoleObject(person: string, text: string | null): OwnConsole {
  const own = (text === null ? NOTHING : JSON.parse(text)) as typeof NOTHING;
  return { person, revision: contentHash(JSON.stringify([person, text])).slice(0, 32), ...own };
}

const NOTHING: Omit<OwnConsole, "person" | "revision"> = { views: [], seen: [], tab: "" };

/** A program may have the name of a person, but has no groups. @throws {ApiError} `person_not_found` */
function requirePerson({ name, groups }: Caller): string {
  if (groups === undefined) throw notSignedIn();
  return name;
}

const notSignedIn = (): ApiError =>
  new ApiError("person_not_found", "The caller has not signed in as a person of this server.");

/** A key that no request could use would be a false promise. @throws {ApiError} `keys_unused` */
function requireRoles({ role }: Caller): void {
  if (role !== undefined) return;
  const detail =
    "This server has no roles: set up sign-in, or start with one key in HOLDPOINT_API_KEYS. With auth.path, the handlers decide about keys.";
  throw new ApiError("keys_unused", detail);
}

/** @throws {ApiError} `invalid_request` */
function requireLimits(assistants: unknown, metadata: unknown): RoleLimits {
  const limits = parseRoleLimits(assistants, metadata);
  if (typeof limits === "string") throw new ApiError("invalid_request", `body: ${limits}.`);
  return limits;
}

const formatTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function keyObject({ keyId, name, role, limits, createdBy, createdAt, expiresAt, usedAt }: StoredKey): object {
  return {
    key_id: keyId,
    name,
    role,
    ...limits,
    created_by: createdBy,
    created_at: formatTime(createdAt),
    expires_at: formatTime(expiresAt),
    last_used_at: formatTime(usedAt),
  };
}

function personObject({ name, displayName, email, groups, createdAt, seenAt }: Person): object {
  const times = { created_at: formatTime(createdAt), last_seen_at: formatTime(seenAt) };
  return { name, display_name: displayName, email, groups, ...times };
}

// Removal from the directory.

/** @throws {ApiError} `person_not_found` */
async function removePerson(
  { storage, clock }: { readonly storage: Storage; readonly clock: Clock },
  caller: Caller,
  name: string,
): Promise<void> {
  await storage.transaction(async (tx) => {
    if (!(await tx.deletePerson(name)))
      throw new ApiError("person_not_found", `No person with the name ${name} has signed in.`);
    await tx.audit([buildAct(caller, { action: "person_removed", at: clock.now(), subject: name })]);
  });
}
