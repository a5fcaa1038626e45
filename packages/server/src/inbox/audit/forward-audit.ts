// Forwarding of the audit trail: the lines of its chains, in order, to a file or an HTTP address.
// Invariants:
//   - At least once, and in the order of each chain: a row of the outbox stands for the lines after a place, and the
//     row for the lines after those is stored with the new place.
//   - It gives nothing up: a receiver that is away gets all of it later. What was deleted meanwhile arrives as its
//     digest.
//   - Secrets of answers are masked.
import { hash } from "node:crypto";
import { backoffMs } from "@holdpoint/base/backoff.ts";
import { isoTime, type Clock } from "@holdpoint/base/clock.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { AuditLink } from "../../model/audit/audit-chain.ts";
import type { Webhook } from "../../model/model.ts";
import { maskSecrets } from "../../model/payload/mask-secrets.ts";
import type { Storage, Tx } from "../../ports/ports.ts";
import type { Deliver } from "../../webhooks/delivery.ts";
import { outboxId } from "../../webhooks/outbox-id.ts";
import { serializeAuditEntry } from "../../wire/inbox-item.ts";

export interface ForwardPorts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Resolves once the receiver has the lines. @throws {Error} the reason why it has not */
  readonly send: (lines: string, signal: AbortSignal) => Promise<void>;
  readonly wakeOutbox: () => void;
}

export interface AuditForward {
  readonly deliver: Deliver;
  /** Notices new entries. */
  readonly watch: Service;
}

type Places = ReadonlyMap<number, number>;

const WATCH_MS = 1000;
const LINES_MAX = 200;
const UNITS_MAX = 1_000_000;
const RETRY = { baseMs: 1000, maxMs: 60_000 };

/** @param destination its address, without credentials: another one gets the trail from its start */
export function createAuditForward(destination: string, ports: ForwardPorts): AuditForward {
  const { storage, clock, log, random, send, wakeOutbox } = ports;
  const key = hash("sha256", destination).slice(0, 16);
  let failures = 0;
  let cancel: () => void = () => undefined;
  let watching: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    try {
      const places = await storage.read((tx) => findNews(tx, key));
      if (places !== null) {
        await storage.transaction((tx) => tx.putWebhook(buildRow(key, places, clock.now())));
        wakeOutbox();
      }
    } catch (error) {
      log.warning("audit_forward_failed", { reason: describeError(error).message });
    }
    cancel = clock.after(WATCH_MS, watch);
  };
  const watch = (): void => void (watching = look());

  return {
    async deliver(_rows, signal) {
      const { lines, places } = await storage.read((tx) => readLines(tx, key));
      try {
        if (lines.length > 0) await send(lines.join(""), signal);
      } catch (error) {
        const afterMs = Math.ceil(backoffMs(++failures, { ...RETRY, random }));
        log.warning("audit_forward_failed", { reason: describeError(error).message, retry_ms: afterMs });
        return { kind: "limited", afterMs };
      }
      failures = 0;
      return {
        kind: "sent",
        async record(tx) {
          await tx.putForwardedAudit(key, latest(await tx.forwardedAudit(key), places));
          const left = await findNews(tx, key);
          if (left !== null) await tx.putWebhook(buildRow(key, left, clock.now()));
        },
      };
    },
    watch: {
      name: "audit forward",
      async start() {
        watch();
      },
      async stop() {
        cancel();
        await watching;
        cancel(); // the look scheduled the next one
      },
    },
  };
}

/** The places, if the chains go on behind them. */
async function findNews(tx: Pick<Tx, "auditHeads" | "forwardedAudit">, key: string): Promise<Places | null> {
  const places = await tx.forwardedAudit(key);
  const heads = await tx.auditHeads();
  return heads.some(({ chain, count }) => count > (places.get(chain) ?? 0)) ? places : null;
}

function latest(one: Places, other: Places): Places {
  const chains = new Set([...one.keys(), ...other.keys()]);
  return new Map([...chains].map((chain) => [chain, Math.max(one.get(chain) ?? 0, other.get(chain) ?? 0)]));
}

/** One row for each state of the places, however many processes put it. */
function buildRow(key: string, places: Places, at: number): Webhook {
  const runId = outboxId(`audit ${key} ${JSON.stringify([...places].toSorted(([one], [other]) => one - other))}`);
  const empty = { url: "", body: "", headers: {}, batch: null, attempts: 0 };
  return { ...empty, runId, host: `audit ${key}`, channel: "audit", dueAt: at, createdAt: at };
}

async function readLines(
  tx: Pick<Tx, "auditHeads" | "auditLinks" | "forwardedAudit" | "interrupt">,
  key: string,
): Promise<{ readonly lines: readonly string[]; readonly places: Places }> {
  const places = new Map(await tx.forwardedAudit(key));
  const lines: string[] = [];
  let units = 0;
  for (const { chain, count } of await tx.auditHeads()) {
    const links = await tx.auditLinks(chain, places.get(chain) ?? 0, LINES_MAX);
    for (const link of links) {
      if (link.position > count || lines.length >= LINES_MAX || units > UNITS_MAX) break;
      const line = `${JSON.stringify(await buildLine(tx, chain, link))}\n`;
      lines.push(line);
      units += line.length;
      places.set(chain, link.position);
    }
  }
  return { lines, places };
}

async function buildLine(
  tx: Pick<Tx, "interrupt">,
  chain: number,
  { position, seq, digest, entry, gone }: AuditLink,
): Promise<JsonObject> {
  const place = { id: `${chain}:${position}`, chain, position, digest };
  if (entry === null) {
    const kind = digest.startsWith("erased ") ? "erased" : seq === 0 ? "cut_off" : "deleted";
    return {
      ...place,
      seq,
      entry_kind: kind,
      at: gone === null ? null : isoTime(gone.at),
      thread_id: gone?.threadId ?? null,
    };
  }
  const { threadId, interruptId } = entry.content;
  const schema = interruptId === null ? null : ((await tx.interrupt(threadId, interruptId))?.responseSchema ?? null);
  const said = serializeAuditEntry({ ...entry.content, seq }, schema, maskSecrets);
  return { ...place, previous: entry.previous, ...said };
}
