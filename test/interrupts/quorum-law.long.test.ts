// Random histories of votes over every channel (../harness/reviews/quorum-law.ts), on both storages.
//   quorum-law.1. People with keys, who lose them and their roles. Slack and links know people, not keys.
//   quorum-law.2. People whom every channel knows, and decisions that a button or a form can say.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CHANNELS, type Channel } from "../harness/channels/channels.ts";
import { startWorld, type World } from "../harness/channels/world.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { QUORUM_GRAPHS, runHistory, type Told } from "../harness/reviews/quorum-law.ts";

const ADMIN = "the-long-key-of-the-admin";
const HISTORIES = process.env["HOLDPOINT_FAULTS"] === "full" ? 200 : 25;
const KNOWS_PEOPLE_ALONE = /Slack|link/;
type Env = Readonly<Record<string, string>>;

interface Cast {
  readonly name: string;
  readonly adminKey?: string;
  readonly channels: readonly Channel[];
  readonly start: (env: Env) => Promise<World>;
}

const CASTS: readonly Cast[] = [
  {
    name: "people with keys (quorum-law.1)",
    adminKey: ADMIN,
    channels: CHANNELS.filter(({ name }) => !KNOWS_PEOPLE_ALONE.test(name)),
    start: (env) => startWorld(QUORUM_GRAPHS, { HOLDPOINT_API_KEYS: `root:${ADMIN}`, ...env }),
  },
  { name: "people of every channel (quorum-law.2)", channels: CHANNELS, start: (env) => startWorld(undefined, env) },
];

suite("votes over every channel", () => {
  for (const storage of ["sqlite", "postgres"] as const)
    for (const { name, start, ...cast } of CASTS)
      test(`no random history breaks the law of votes: ${name}, on ${storage}`, async () => {
        const world = await start(storage === "postgres" ? { DATABASE_URI: await newDatabase() } : {});
        try {
          const told: Told = { decided: 0, counted: 0, refused: 0 };
          const first = Date.now() % 1_000_000_000;
          for (let at = 0; at < HISTORIES; at++) await runHistory({ world, ...cast }, first + at, told);
          for (const count of Object.values(told)) assert.ok(count > HISTORIES / 10, JSON.stringify(told));
        } finally {
          await world.close();
        }
      });
});
