// Verification of the audit trail: finds entries that were changed, removed or added past the server.
// Invariants:
//   - Each chain is read once, in pages, next to running transactions: their entries come after its head.
//   - An entry that retention or the deletion of its thread removed is no fault: its digest is still there. While its
//     thread is there, it is a fault unless the chain notes a later time before which entries were deleted by age. A
//     thread that was made after the entry is another one with the same id.
//   - An anchor, the heads of an earlier verification, also finds a trail that was rewritten as a whole.
//   - An entry whose content is not that of its digest is no fault if a chain notes the erasure of a person from it,
//     with the digest of the content that it has now.
//   - The numbers of a thread have no gap: it also shows where a whole chain was removed.
import {
  auditDigest,
  auditHash,
  erasureDigest,
  isGoneTrace,
  NO_CHAIN,
  type AuditHead,
  type AuditLink,
} from "../../model/audit/audit-chain.ts";
import type { AgentContext } from "../../context/context.ts";

/** `missing` may be a range; `rewritten` differs from the anchor; `early` was deleted before its time. */
export type AuditFaultKind = "changed" | "missing" | "added" | "rewritten" | "early" | "gap";

export interface AuditFault {
  readonly fault: AuditFaultKind;
  /** Chain of the record. A `gap` has NO_CHAIN, and its positions are numbers in the trail of its thread. */
  readonly chain: number;
  readonly position: number;
  /** The last position of a range. */
  readonly last: number;
  /** Null where the entry is not there any more. */
  readonly threadId: string | null;
  readonly seq: number | null;
}

export interface AuditReport {
  readonly entries: number;
  readonly deleted: number;
  /** Entries from which a person was erased. */
  readonly erased: number;
  readonly heads: readonly AuditHead[];
  /** At most FAULTS_MAX. */
  readonly faults: readonly AuditFault[];
  readonly faultCount: number;
}

type StorageOnly = Pick<AgentContext, "storage">;

const PAGE = 100;
const FAULTS_MAX = 100;

/** @param anchor heads of an earlier report */
export async function verifyAudit(agent: StorageOnly, anchor: readonly AuditHead[]): Promise<AuditReport> {
  const heads = await agent.storage.longReads.auditHeads();
  const found = { entries: 0, deleted: 0, erased: 0, faults: [] as AuditFault[], faultCount: 0 };
  const report = (fault: AuditFault): void => {
    if (++found.faultCount <= FAULTS_MAX) found.faults.push(fault);
  };
  const unchained = await agent.storage.longReads.unchainedAudit();
  if (unchained > 0) report({ ...PLACE, fault: "added", chain: NO_CHAIN, position: 1, last: unchained });
  for (const head of heads) {
    const marks = anchor.filter(({ chain }) => chain === head.chain);
    const walk = createWalk(head, marks, report);
    for (;;) {
      const links = await agent.storage.longReads.auditLinks(head.chain, walk.position(), PAGE);
      const erased = await findErased(agent, head.chain, links);
      for (const link of links) {
        if (link.position > head.count) break;
        walk.step(link, erased.has(link.position));
        if (erased.has(link.position)) found.erased++;
        if (link.entry !== null) found.entries++;
        else if (link.seq > 0) found.deleted++;
      }
      await findEarly(agent, head.chain, links, report);
      if (links.length < PAGE || (links.at(-1)?.position ?? 0) >= head.count) break;
    }
    walk.end();
    await findAdded(agent, head.chain, report);
  }
  await findGaps(agent, report);
  for (const { chain, count } of anchor) {
    if (heads.some((head) => head.chain === chain)) continue;
    report({ ...PLACE, fault: "missing", chain, position: 1, last: count });
  }
  return { ...found, heads };
}

const PLACE = { threadId: null, seq: null } as const;

interface Walk {
  readonly position: () => number;
  /** @param isErased an erasure explains the content */
  step(link: AuditLink, isErased: boolean): void;
  end(): void;
}

/** One chain from its start to its head. */
function createWalk(head: AuditHead, marks: readonly AuditHead[], report: (fault: AuditFault) => void): Walk {
  const { chain } = head;
  let last: AuditLink | null = null;
  /** Hash of the last position; null behind a gap. */
  let hash: string | null = "";
  const position = (): number => last?.position ?? 0;
  const faulty = (fault: AuditFaultKind, at: number, link: AuditLink | null, until = at): void =>
    report({
      fault,
      chain,
      position: at,
      last: until,
      threadId: link?.entry?.content.threadId ?? link?.gone?.threadId ?? null,
      seq: link?.seq ?? null,
    });
  const lastFits = (next: string): void => {
    if (hash !== null && hash !== next) faulty("changed", Math.max(position(), 1), last);
  };
  return {
    position,
    step(link, isErased) {
      if (link.position <= position()) {
        faulty("added", link.position, link);
        return;
      }
      if (link.position > position() + 1) {
        faulty("missing", position() + 1, null, link.position - 1);
        hash = null;
      }
      const { entry } = link;
      if (entry !== null) {
        lastFits(entry.previous);
        hash = entry.previous;
        if (!isErased && link.digest !== auditDigest(entry.content)) faulty("changed", link.position, link);
      } else if (!isGoneTrace(link)) faulty("changed", link.position, link);
      hash = hash === null ? null : auditHash(hash, link);
      last = link;
      for (const mark of marks) {
        if (mark.count === link.position && hash !== null && mark.hash !== hash) faulty("rewritten", mark.count, link);
      }
    },
    end() {
      if (position() < head.count) faulty("missing", position() + 1, null, head.count);
      else lastFits(head.hash);
      for (const mark of marks) if (mark.count > head.count) faulty("missing", head.count + 1, null, mark.count);
    },
  };
}

/** @returns positions */
async function findErased(
  agent: StorageOnly,
  chain: number,
  links: readonly AuditLink[],
): Promise<ReadonlySet<number>> {
  const changed = links.flatMap(({ position, digest, entry }) => {
    const now = entry === null ? digest : auditDigest(entry.content);
    return now === digest || entry === null ? [] : [{ chain, position, threadId: entry.content.threadId, digest: now }];
  });
  if (changed.length === 0) return new Set();
  const noted = await agent.storage.read((tx) => tx.notedErasures(changed));
  return new Set(changed.filter((entry) => noted.has(erasureDigest(entry))).map(({ position }) => position));
}

/** Deleted entries of threads that are still there. */
async function findEarly(
  agent: StorageOnly,
  chain: number,
  links: readonly AuditLink[],
  report: (fault: AuditFault) => void,
): Promise<void> {
  const gone = links.flatMap((link) => (link.gone === null || link.seq === 0 ? [] : [{ ...link, ...link.gone }]));
  if (gone.length === 0) return;
  const ids = [...new Set(gone.map(({ threadId }) => threadId))];
  const threads = await agent.storage.read((tx) => tx.auditedThreads(ids));
  const byId = new Map(threads.map((thread) => [thread.threadId, thread]));
  for (const { position, seq, threadId, at } of gone) {
    const thread = byId.get(threadId);
    if (thread === undefined || thread.createdAt > at || (thread.cutOff !== null && at < thread.cutOff)) continue;
    report({ fault: "early", chain, position, last: position, threadId, seq });
  }
}

async function findGaps(agent: StorageOnly, report: (fault: AuditFault) => void): Promise<void> {
  let after: string | null = "";
  while (after !== null) {
    const from: string = after;
    const { gaps, next } = await agent.storage.read((tx) => tx.auditGaps(from, PAGE));
    for (const { threadId, first, last } of gaps)
      report({ fault: "gap", chain: NO_CHAIN, position: first, last, threadId, seq: first });
    after = next;
  }
}

/** Entries past the head, as it is after them. */
async function findAdded(agent: StorageOnly, chain: number, report: (fault: AuditFault) => void): Promise<void> {
  const { count = 0 } = (await agent.storage.longReads.auditHeads()).find((one) => one.chain === chain) ?? {};
  const [link] = await agent.storage.longReads.auditLinks(chain, count, 1);
  if (link === undefined) return;
  const now = (await agent.storage.longReads.auditHeads()).find((one) => one.chain === chain);
  if (now !== undefined && now.count >= link.position) return; // written meanwhile
  const { position, seq, entry } = link;
  report({ fault: "added", chain, position, last: position, threadId: entry?.content.threadId ?? null, seq });
}
