// Contract of the storage port for interrupts and the order of audit entries, one part of storage.contract.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry, Interrupt } from "../../model/model.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { OpenStorage } from "./open-storage.ts";
import { newId, newInterrupt, newThread, ODD } from "./samples.contract.ts";

export function interruptCases(open: OpenStorage): void {
  test("interrupts read back as stored, in order; storing one again replaces it (contract/storage.7)", async (t) => {
    const storage = await open(t);
    const { threadId } = newThread();
    const answer = { runId: "r2", at: 5, by: "ann", value: null };
    const list = [
      newInterrupt(threadId, "first", { value: ODD, responseSchema: ODD }),
      newInterrupt(threadId, "second", { position: 1, value: false }),
      newInterrupt(threadId, "later", { createdAt: 2, value: null }),
    ];
    const read = (state: Interrupt["state"] | null) => storage.transaction((tx) => tx.interrupts(threadId, state));
    await storage.transaction((tx) => tx.putInterrupts(list.toReversed()));
    assert.deepEqual(await read(null), list);
    const [first, second, later] = list;
    assert.ok(first && second && later);
    const answered: Interrupt = { ...first, state: "answered", answer };
    await storage.transaction((tx) => tx.putInterrupts([answered]));
    assert.deepEqual(await read("answered"), [answered]);
    assert.deepEqual(await read("open"), [second, later]);
    assert.equal(await storage.read((tx) => tx.countOpenInterrupts()), 2);
    await storage.transaction((tx) => tx.putInterrupts([]));
  });

  test("the audit trail keeps its order and every value (contract/storage.7)", async (t) => {
    const storage = await open(t);
    const threadId = newId();
    const trail = [entry(threadId, "answered", ODD), entry(threadId, "abandoned"), entry(threadId, "reopened", false)];
    await storage.transaction((tx) => tx.audit(trail.slice(0, 2)));
    await storage.transaction((tx) => tx.audit(trail.slice(2)));
    await storage.transaction((tx) => tx.audit([]));
    assert.deepEqual(
      await storage.transaction((tx) => tx.listAudit(threadId)),
      trail.map((one, at) => ({ ...one, seq: at + 1 })),
    );
    assert.deepEqual(await storage.transaction((tx) => tx.listAudit(newId())), []);
  });
}

function entry(threadId: string, action: AuditEntry["action"], value: Json = null): AuditEntry {
  return { threadId, at: 1, action, by: "ann", interruptId: "q", runId: null, value };
}
