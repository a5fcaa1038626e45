import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, test } from "node:test";
import { startCollector } from "../../../../test/fakes/collector.ts";
import { protobufRequest, buildSpan } from "../../../../test/fakes/otlp.ts";
import type { Backend } from "../upload/backend/port.ts";
import { fitsShare } from "./fair-share.ts";

describe("one key's share of a room of 1,600 bytes", () => {
  const cases = [
    { name: "a key alone", used: 1200, own: 1200, others: 0, bytes: 200, fits: true },
    {
      name: "fair-share.2 a key alone leaves the last eighth",
      used: 1300,
      own: 1300,
      others: 0,
      bytes: 101,
      fits: false,
    },
    {
      name: "fair-share.1 a key below half while others hold something",
      used: 801,
      own: 700,
      others: 101,
      bytes: 100,
      fits: true,
    },
    {
      name: "fair-share.1 a key at half while others hold something",
      used: 901,
      own: 800,
      others: 101,
      bytes: 1,
      fits: false,
    },
    { name: "fair-share.2 a newcomer in the last eighth", used: 1400, own: 0, others: 1400, bytes: 200, fits: true },
    {
      name: "fair-share.2 a key with a sixteenth in the last eighth",
      used: 1450,
      own: 100,
      others: 1300,
      bytes: 1,
      fits: false,
    },
    { name: "a newcomer when all is taken", used: 1500, own: 0, others: 1500, bytes: 101, fits: false },
  ];
  for (const { name, used, own, others, bytes, fits } of cases)
    test(`${name}: ${fits ? "gets in" : "is refused"}`, () => {
      const room = { bytesMax: 1600, usedBytes: used, ownBytes: own, otherBytes: others };
      assert.equal(fitsShare(bytes, room), fits);
    });
});

for (const mode of ["memory", "durable"] as const)
  test(`a key whose uploads fail never fills the ${mode === "memory" ? "queue" : "spool"} for another (${mode} mode)`, async (t) => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-share-`);
    const backend: Backend = {
      send: async ({ tenant }) =>
        tenant.apiKey === "stuck" ? { kind: "retry", reason: "503", afterMs: null } : { kind: "sent" },
      limits: () => ({ runsMax: 100, bytesMax: 1_000_000, encoding: "zstd" }),
      close: () => undefined,
    };
    const env = {
      MAX_QUEUE_BYTES: "4194304",
      SPOOL_MAX_BYTES: "4194304",
      BATCH_SIZE: "2", // an open batch counts with its buffer, and a small room has small shares
      SHUTDOWN_TIMEOUT_MS: "2500",
      ...(mode === "durable" ? { SPOOL_DIR: dir } : {}),
    };
    const collector = await startCollector("http://127.0.0.1:1", env, { backend });
    t.after(async () => {
      await collector.stop();
      await rm(dir, { recursive: true });
    });
    const noise = (): string => Array.from({ length: 1500 }, () => Math.random().toString(36)).join("");
    let trace = 0;
    const send = async (key: string): Promise<number> => {
      const span = buildSpan(trace++, 0, undefined, { attributes: { "gen_ai.prompt": noise() } });
      return (await collector.send(protobufRequest([span]), { "x-api-key": key })).status;
    };
    const refused = async (times: number): Promise<void> => {
      const most = trace + 2000;
      for (let seen = 0; seen < times;) {
        assert.ok(trace < most, "it is refused in the end");
        if ((await send("stuck")) === 503) seen++;
      }
    };
    await refused(20);
    for (let at = 0; at < 10; at++) assert.equal(await send("well"), 200);
    await refused(1); // a try that is on its way may leave room for one more
  });
