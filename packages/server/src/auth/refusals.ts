// Refusals: keys, sessions and sign-ins that were refused, in the audit trail.
// Invariants:
//   refusals.1. The first one is recorded at once, those of the next minute together: whoever tries keys fills no disk.
//   - A request without credentials is none: a page that asks who it is gets the same answer.
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { Origin } from "../model/model.ts";
import type { Access, AccessRequest, Storage } from "../ports/ports.ts";
import { readOrigin } from "./request-origin.ts";

export interface Refusals extends Service {
  /**
   * @param what `key`, or the failure of a sign-in
   * @param person who came from the provider, if that is known
   */
  note(what: string, request: AccessRequest, person?: string | null): void;
}

export interface RefusalPorts {
  readonly storage: Pick<Storage, "transaction">;
  readonly clock: Clock;
  readonly log: Log;
}

const TOGETHER_MS = 60_000;
const NAMED_MAX = 10;

interface Refused {
  count: number;
  readonly what: Map<string, number>;
  readonly addresses: Set<string>;
  readonly people: Set<string>;
  readonly first: Origin;
}

export function createRefusals({ storage, clock, log }: RefusalPorts): Refusals {
  let waiting: Refused | null = null;
  let cancel: (() => void) | null = null;
  let written: Promise<void> = Promise.resolve();

  const write = (): void => {
    const refused = waiting;
    waiting = null;
    if (refused === null) return;
    const { count, what, addresses, people, first } = refused;
    const named = people.size === 0 ? {} : { people: [...people] };
    const fields = { count, reasons: Object.fromEntries(what), addresses: [...addresses], ...named };
    const act = buildAct(
      { name: "unknown", origin: first },
      { action: "access_refused", at: clock.now(), subject: [...what.keys()].join(", "), fields },
    );
    written = storage
      .transaction((tx) => tx.audit([act]))
      .catch((error: unknown) => log.warning("refusals_not_stored", { count, reason: describeError(error).message }));
  };
  const writeAndWait = (): void => {
    cancel = waiting === null ? null : clock.after(TOGETHER_MS, writeAndWait);
    write();
  };
  return {
    name: "refusals",
    note(what, request, person = null) {
      const first = readOrigin(request);
      waiting ??= { count: 0, what: new Map(), addresses: new Set(), people: new Set(), first };
      waiting.count++;
      if (waiting.what.has(what) || waiting.what.size < NAMED_MAX)
        waiting.what.set(what, (waiting.what.get(what) ?? 0) + 1);
      if (waiting.addresses.size < NAMED_MAX) waiting.addresses.add(first.address);
      if (person !== null && waiting.people.size < NAMED_MAX) waiting.people.add(person);
      if (cancel === null) writeAndWait(); // refusals.1
    },
    async start() {},
    async stop() {
      cancel?.();
      write();
      await written;
    },
  };
}

/** The same access, whose refusals are noted. */
export function noteRefusals(access: Access, { note }: Pick<Refusals, "note">): Access {
  return {
    ...access,
    async authenticate(request) {
      try {
        return await access.authenticate(request);
      } catch (error) {
        const isRefusal = error instanceof ApiError && error.code === "unauthenticated";
        const { authorization, "x-api-key": key } = request.headers;
        const hasKey = authorization !== undefined || key !== undefined;
        if (isRefusal && hasKey && request.isRecheck !== true) note("key", request);
        throw error;
      }
    },
  };
}
