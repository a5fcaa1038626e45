// Random histories of votes over every channel that takes any answer, on both storages (quorum-law.test.ts).
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CHANNELS } from "../harness/channels/channels.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { QUORUM_GRAPHS, runHistory, type Told } from "../harness/reviews/quorum-law.ts";
import { startWorld } from "../harness/channels/world.ts";

const ADMIN = "the-long-key-of-the-admin";
const HISTORIES = 200;
/** The command line starts slowly, and input that is refused as an answer never comes to an end. */
const WITHOUT = /command line|on_paused/;
const ALSO = new Set(["MCP", "A2A"]);

suite("votes over every channel", () => {
  for (const storage of ["sqlite", "postgres"] as const) {
    test(`no random history breaks the law of votes, on ${storage}`, async () => {
      const database: Readonly<Record<string, string>> =
        storage === "postgres" ? { DATABASE_URI: await newDatabase() } : {};
      const world = await startWorld(QUORUM_GRAPHS, { HOLDPOINT_API_KEYS: `root:${ADMIN}`, ...database });
      try {
        const channels = CHANNELS.filter(({ name, hasCodes }) => (hasCodes && !WITHOUT.test(name)) || ALSO.has(name));
        const told: Told = { decided: 0, counted: 0, refused: 0 };
        const first = Date.now() % 1_000_000_000;
        for (let at = 0; at < HISTORIES; at++) await runHistory({ world, adminKey: ADMIN, channels }, first + at, told);
        for (const count of Object.values(told)) assert.ok(count > HISTORIES / 10, JSON.stringify(told));
      } finally {
        await world.close();
      }
    });
  }
});
