// Administrative acts in the audit trail, on both storages. Checked:
//   acts-law.1. Each act has one entry in the one chain, whatever the channel: who, from where, about what.
//   acts-law.2. Decisions and acts are told apart, in lists and exports; acts are for administrators.
//   acts-law.3. The chain verifies after all of it, also without the persons and threads that the acts are about.
//   acts-law.4. A start is recorded with its settings, without secrets.
//   acts-law.5. Many acts at once wait for no common lock: each is accepted and recorded once.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { holdpoint, verb } from "../harness/cli.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { type ServerHere, startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { type Browser, newBrowser, startOpenIdProvider } from "../harness/sign-in/openid-provider.ts";

const ADMIN = "key-of-the-admin-77ae";
const provider = await startOpenIdProvider();
after(() => provider.stop());

interface Entry {
  readonly action: string;
  readonly entry_kind: string;
  readonly by: string;
  readonly via: string;
  readonly title: string;
  readonly thread_id: string | null;
  readonly value: Readonly<Record<string, unknown>>;
}

/** @returns the body of a reply that is no error */
type Send = (method: string, path: string, body?: unknown) => Promise<string>;

interface World {
  readonly server: ServerHere;
  readonly send: Send;
  /** A value of its own for each channel. */
  readonly channel: string;
  /** What rows before made through this channel. */
  readonly made: Map<string, string>;
}

interface Row {
  readonly act: string;
  /** @returns the subject of the act */
  readonly work: (world: World) => Promise<string>;
}

const create = async ({ send }: World, path: string, body: unknown, member: string): Promise<string> =>
  String((JSON.parse(await send("POST", path, body)) as Readonly<Record<string, unknown>>)[member]);
const remember = (world: World, name: string, value: string): string => {
  world.made.set(name, value);
  return value;
};
const recall = ({ made }: World, name: string): string => made.get(name) ?? assert.fail(name);
const newThread = (world: World): Promise<string> => create(world, "/threads", {}, "thread_id");
const signIn = async (
  { server }: Pick<World, "server">,
  name: string,
  ...groups: readonly string[]
): Promise<Browser> => {
  provider.accounts.set(name, { email: `${name}@example.com`, email_verified: true, groups: [...groups] });
  provider.allow(server.url);
  const browser = newBrowser();
  await browser.signIn(server.url, name);
  return browser;
};

/** Through each of the API, a session of the console and the command line. */
const ROWS: readonly Row[] = [
  {
    act: "key_created",
    async work(world) {
      const name = `robot-${world.channel}`;
      remember(world, "key", await create(world, "/keys", { name, role: "viewer" }, "key_id"));
      return name;
    },
  },
  {
    act: "key_revoked",
    work: async (world) => (await world.send("DELETE", `/keys/${recall(world, "key")}`), `robot-${world.channel}`),
  },
  {
    act: "assistant_created",
    async work(world) {
      const metadata = { interrupt_review: { approvals: 2 } };
      const id = await create(world, "/assistants", { graph_id: "agent", metadata }, "assistant_id");
      return remember(world, "assistant", id);
    },
  },
  {
    act: "assistant_updated",
    async work(world) {
      const id = recall(world, "assistant");
      await world.send("PATCH", `/assistants/${id}`, { metadata: { interrupt_review: { approvals: 3 } } });
      return id;
    },
  },
  {
    act: "assistant_updated",
    async work(world) {
      const id = recall(world, "assistant");
      await world.send("POST", `/assistants/${id}/latest`, { version: 1 });
      return id;
    },
  },
  {
    act: "assistant_deleted",
    async work(world) {
      const id = recall(world, "assistant");
      await world.send("POST", "/threads", { metadata: { assistant_id: id } });
      await world.send("DELETE", `/assistants/${id}?delete_threads=true`);
      return id;
    },
  },
  {
    act: "cron_created",
    async work(world) {
      const cron = { assistant_id: "agent", schedule: "0 0 1 1 *", input: {} };
      return remember(world, "cron", await create(world, "/runs/crons", cron, "cron_id"));
    },
  },
  {
    act: "cron_updated",
    async work(world) {
      const end_time = "2099-01-01T00:00:00.000Z";
      await world.send("PATCH", `/runs/crons/${recall(world, "cron")}`, { enabled: false, end_time, input: null });
      return recall(world, "cron");
    },
  },
  {
    act: "cron_deleted",
    async work(world) {
      await world.send("DELETE", `/runs/crons/${recall(world, "cron")}`);
      return recall(world, "cron");
    },
  },
  {
    act: "thread_deleted",
    async work(world) {
      const id = await newThread(world);
      await world.send("DELETE", `/threads/${id}`);
      return id;
    },
  },
  {
    act: "threads_pruned",
    async work(world) {
      const thread_ids = await Promise.all([1, 2, 3].map(() => newThread(world)));
      await world.send("POST", "/threads/prune", { thread_ids, strategy: "delete" });
      return "3 threads";
    },
  },
  {
    act: "run_deleted",
    async work(world) {
      const thread = await newThread(world);
      const body = { assistant_id: "agent", input: { some_text: "x" }, command: undefined };
      await world.send("POST", `/threads/${thread}/runs/wait`, body);
      const { items } = JSON.parse(await world.send("GET", `/inbox?thread_id=${thread}`)) as {
        readonly items: readonly Readonly<Record<string, string>>[];
      };
      const interrupt_id = items[0]?.["id"];
      await world.send("POST", "/inbox/answers", [{ thread_id: thread, interrupt_id, resume: "y" }]);
      const path = `/threads/${thread}/runs`;
      const runs = JSON.parse(await world.send("GET", path)) as readonly { readonly run_id: string }[];
      for (const { run_id: id } of runs) await world.send("GET", `${path}/${id}/join`);
      const id = runs.at(-1)?.run_id ?? "";
      await world.send("DELETE", `${path}/${id}`);
      return id;
    },
  },
  {
    act: "store_item_deleted",
    async work({ send }) {
      const item = { namespace: ["people"], key: "k" };
      await send("PUT", "/store/items", { ...item, value: { a: 1 } });
      await send("DELETE", "/store/items", item);
      await send("DELETE", "/store/items", item); // there is nothing any more: no act
      return "k";
    },
  },
  {
    act: "audit_exported",
    work: async ({ send }) => (await send("GET", "/audit?format=ndjson"), "audit trail"),
  },
  {
    act: "audit_exported",
    async work(world) {
      await world.send("GET", `/threads/${await newThread(world)}/audit?format=csv`);
      return "audit trail";
    },
  },
  {
    act: "person_removed",
    async work(world) {
      const name = `left-${world.channel}`.toLowerCase();
      await signIn(world, name, "finance");
      await world.send("DELETE", `/people/${name}@example.com`);
      return `${name}@example.com`;
    },
  },
  {
    act: "policy_written",
    async work(world) {
      const policy = { action: "note", answer: "approve" };
      return remember(world, "policy", await create(world, "/policies", policy, "policy_id"));
    },
  },
  {
    act: "policy_revoked",
    async work(world) {
      await world.send("DELETE", `/policies/${recall(world, "policy")}`);
      return recall(world, "policy");
    },
  },
];

/** Through the only channel that has them. */
const OWN_ROWS: readonly (Row & { readonly by: string })[] = [
  {
    act: "expired_key_used",
    by: "late",
    async work(world) {
      const key = await create(world, "/keys", { name: "late", role: "viewer", expires_in_days: 1e-9 }, "key");
      for (let times = 0; times < 3; times++)
        assert.equal((await call(world.server, "GET", "/inbox", undefined, { "x-api-key": key })).status, 401);
      return "late";
    },
  },
  {
    act: "signed_in",
    by: "bob@example.com",
    work: async (world) => (await signIn(world, "bob", "platform"), "bob@example.com"),
  },
  {
    act: "role_changed",
    by: "bob@example.com",
    work: async (world) => (await signIn(world, "bob", "finance"), "bob@example.com"),
  },
  {
    act: "role_changed",
    by: "bob@example.com",
    work: async (world) => (await signIn(world, "bob"), "bob@example.com"),
  },
];

const PERSON = "ann@example.com";

for (const storage of ["sqlite", "postgres"] as const)
  void suite(`acts with ${storage}`, async () => {
    const env = {
      ...provider.env,
      HOLDPOINT_ROLES: "platform=admin,finance=reviewer",
      HOLDPOINT_API_KEYS: `root:${ADMIN}`,
      ...(storage === "postgres" ? { DATABASE_URI: await newDatabase() } : {}),
    };
    const folder = temporaryFolder();
    let server = await startServerHere({ env, dataDir: folder });
    after(async () => {
      await server.stop();
      removeFolder(folder);
    });
    const restart = async (more: Readonly<Record<string, string>> = {}): Promise<void> => {
      await server.stop();
      server = await startServerHere({ env: { ...env, ...more }, dataDir: folder });
    };
    const session = await signIn({ server }, "ann", "platform");
    const ask = (method: string, path: string, body?: unknown, key = ADMIN) =>
      call(server, method, path, body, { "x-api-key": key });
    const cli = async (args: readonly string[], input = ""): Promise<string> => {
      const { code, out, err } = await verb(args, {
        env: { HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: ADMIN },
        input,
      });
      assert.equal(code, 0, err);
      return out;
    };
    const accept = ({ status, text }: { readonly status: number; readonly text: string }): string => {
      assert.ok(status < 300, text);
      return text;
    };
    const channels: Readonly<Record<string, { readonly by: string; readonly send: Send }>> = {
      API: { by: "root", send: async (...given) => accept(await ask(...given)) },
      console: {
        by: PERSON,
        async send(method, path, body) {
          const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" };
          const given = body === undefined ? {} : { body: JSON.stringify(body) };
          return accept(await session.visit(server.url + path, { method, headers, ...given }));
        },
      },
      CLI: {
        by: "root",
        send: (method, path, body) =>
          body === undefined
            ? cli(["api", method, path])
            : cli(["api", method, path, "--input", "-"], JSON.stringify(body)),
      },
    };
    const list = async (query: string): Promise<readonly Entry[]> => {
      const { status, body, text } = await ask("GET", `/audit?limit=200&${query}`);
      assert.equal(status, 200, text);
      return body["items"];
    };
    const check = async ({ act, work }: Row, by: string, world: World): Promise<void> => {
      const before = await list(`action=${act}&via=api`);
      const subject = await work(world);
      const [entry, ...older] = await list(`action=${act}&via=api`);
      assert.deepEqual(
        [older.length - before.length, entry?.by, entry?.via, entry?.title ?? entry?.thread_id, entry?.entry_kind],
        [0, by, "api", subject, "act"],
      );
    };

    for (const [channel, { by, send }] of Object.entries(channels)) {
      if (storage === "postgres" && channel !== "API") break; // channels are the same for each storage
      const made = new Map<string, string>();
      for (const row of ROWS)
        await test(`${row.act} by ${channel} has one entry (acts-law.1)`, () =>
          check(row, by, { server, send, channel, made }));
    }
    const api = channels["API"]?.send ?? assert.fail();
    for (const row of OWN_ROWS)
      await test(`${row.act} has one entry (acts-law.1)`, () =>
        check(row, row.by, { server, send: api, channel: "own", made: new Map() }));

    await test("verbs of the command line have their entries (acts-law.1)", async () => {
      const name = "typed";
      const key = (
        JSON.parse(await cli(["keys", "create", name, "--role", "viewer", "--json"])) as Entry & { key_id: string }
      ).key_id;
      await cli(["keys", "revoke", key, "--yes"]);
      const thread = String((await ask("POST", "/threads", {})).body["thread_id"]);
      await cli(["threads", "delete", thread, "--yes"]);
      const acts = (await list("kind=act")).slice(0, 3).map(({ action, title }) => `${action} ${title}`);
      assert.deepEqual(acts.toSorted(), [`key_created ${name}`, `key_revoked ${name}`, `thread_deleted ${thread}`]);
    });

    await test("rules, roles and counts are in the entries (acts-law.1)", async () => {
      const [{ value: created } = assert.fail()] = await list("action=assistant_created");
      assert.deepEqual(created["rules"], { interrupt_review: { approvals: 2 } });
      const [{ value: deleted } = assert.fail()] = await list("action=assistant_deleted");
      assert.deepEqual([deleted["threads"], deleted["version"]], [1, 1]);
      const [{ value: pruned } = assert.fail()] = await list("action=threads_pruned");
      assert.deepEqual([pruned["deleted"], (pruned["thread_ids"] as readonly string[]).length], [3, 3]);
      const [restored, patched] = await list("action=assistant_updated");
      assert.deepEqual(
        [patched?.value["rules"], patched?.value["changed"], patched?.value["before"], restored?.value["before"]],
        [
          { interrupt_review: { approvals: 3 } },
          ["metadata"],
          { version: 1, rules: { interrupt_review: { approvals: 2 } } },
          { version: 2, rules: { interrupt_review: { approvals: 3 } } },
        ],
      );
      const [{ value: cron } = assert.fail()] = await list("action=cron_updated");
      assert.deepEqual(
        [cron["enabled"], cron["end_time"], cron["changed"], cron["before"]],
        [false, "2099-01-01T00:00:00.000Z", ["end_time", "enabled", "input"], { end_time: null, enabled: true }],
      );
      const changes = (await list("action=role_changed")).map(({ value: { from, to } }) => [from, to]);
      assert.deepEqual(changes, [
        ["reviewer", null],
        ["admin", "reviewer"],
      ]);
    });

    await test("what is refused in any channel is counted, few entries for many (acts-law.1)", async () => {
      const count = async (): Promise<number> =>
        (await list("action=access_refused")).reduce((sum, { value }) => sum + Number(value["count"]), 0);
      await restart(); // writes those of the rows above
      const before = await count();
      const tries = [
        () => ask("GET", "/inbox", undefined, "wrong"),
        () => call(server, "GET", "/inbox", undefined, { authorization: "Bearer wrong" }),
        () => ask("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }, "wrong"),
        () => ask("POST", "/a2a/agent", { jsonrpc: "2.0", id: 1, method: "message/send", params: {} }, "wrong"),
        () => verb(["inbox", "ls"], { env: { HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: "wrong" } }),
      ];
      for (let times = 0; times < 6; times++) for (const refused of tries) await refused();
      await signIn({ server }, "nobody");
      assert.equal((await call(server, "GET", "/inbox")).status, 401); // no credentials: no attempt
      await restart();
      const [last, first, ...older] = await list("action=access_refused");
      assert.deepEqual(
        [first?.value["count"], last?.value["reasons"], last?.value["people"]],
        [1, { key: 29, no_role: 1 }, ["nobody@example.com"]],
      );
      assert.equal(await count(), before + 31);
      assert.ok(older.length <= 3);
    });

    await test("decisions and acts are told apart, and acts are for administrators (acts-law.2)", async () => {
      const kinds = async (query: string) => [...new Set((await list(query)).map((one) => one.entry_kind))].toSorted();
      assert.deepEqual(await kinds("by=root"), ["decision"]);
      assert.deepEqual(await kinds("kind=act"), ["act"]);
      assert.deepEqual(await kinds("kind=all"), ["act", "decision"]);
      assert.deepEqual(await list("kind=decision&action=key_created"), []);
      assert.match(await cli(["audit", "ls", "--kind", "act"]), /key_created +root/);
      assert.doesNotMatch(await cli(["audit", "ls"]), /key_created/);
      const lines = (await ask("GET", "/audit?kind=all&format=ndjson")).text.trim().split("\n");
      assert.deepEqual(
        new Set(lines.map((line) => (JSON.parse(line) as Entry).entry_kind)),
        new Set(["act", "decision"]),
      );
      assert.match((await ask("GET", "/audit?kind=all&format=csv")).text, /,value,entry_kind\r\n.*,act\r\n/);
      const viewer = String((await ask("POST", "/keys", { name: "view", role: "viewer" })).body["key"]);
      for (const query of ["kind=act", "kind=all", "action=key_created"])
        assert.equal((await ask("GET", `/audit?${query}`, undefined, viewer)).status, 403, query);
      assert.equal((await ask("GET", "/audit", undefined, viewer)).status, 200);
    });

    await test("a start is an entry with its settings, without secrets (acts-law.4)", async () => {
      const starts = () => list("action=server_started");
      const before = (await starts()).length;
      await restart({ HOLDPOINT_KEEP_RUNS: "30d", HOLDPOINT_NOTIFY_URL: "https://hooks.example.com/canary-4c1f" });
      const [{ value } = assert.fail(), ...older] = await starts();
      const settings = value["settings"] as Readonly<Record<string, string>>;
      assert.deepEqual(
        [
          older.length,
          settings["HOLDPOINT_API_KEYS"],
          settings["HOLDPOINT_KEEP_RUNS"],
          settings["HOLDPOINT_NOTIFY_URL"],
        ],
        [before, "***", "2592000000", "***"],
      );
      const { holdpoint: version } = value["versions"] as Readonly<Record<string, string>>;
      assert.deepEqual([version, value["policies"]], [(await call(server, "GET", "/info")).body["version"], []]);
      assert.doesNotMatch(JSON.stringify(await list("kind=act")), /key-of-the-admin|canary-4c1f|secret-of-the-test/);
    });

    await test("200 threads deleted by 32 clients at once are 200 acts (acts-law.5)", async () => {
      const ids = await Promise.all(
        Array.from({ length: 200 }, async () => String((await ask("POST", "/threads", {})).body["thread_id"])),
      );
      const left = [...ids];
      const statuses: number[] = [];
      const work = async (): Promise<void> => {
        for (let id = left.pop(); id !== undefined; id = left.pop())
          statuses.push((await ask("DELETE", `/threads/${id}`)).status);
      };
      await Promise.all(Array.from({ length: 32 }, work));
      assert.deepEqual([statuses.length, new Set(statuses)], [200, new Set([204])]);
      const lines = (await api("GET", "/audit?action=thread_deleted&format=ndjson")).trim().split("\n");
      const found = lines.map((line) => JSON.parse(line) as Entry & { readonly at: string });
      const own = found.map(({ title }) => title).filter((title) => ids.includes(title));
      assert.deepEqual(own.toSorted(), ids.toSorted());
      const times = found.map(({ at }) => at);
      assert.deepEqual(times, times.toSorted().toReversed());
    });

    await test("the chain verifies, without the persons and threads (acts-law.3)", async () => {
      const { body } = await ask("GET", "/audit/verify");
      assert.deepEqual([body["intact"], body["faults"]], [true, []]);
    });

    if (storage === "sqlite")
      await test("commands that open the data leave entries (acts-law.1)", async () => {
        const run = (...args: readonly string[]) => holdpoint([...args, "--data-dir", folder]);
        const [copy, dump] = [join(folder, "copy.db"), join(folder, "all.dump")];
        assert.equal((await run("backup", copy)).code, 0);
        await server.stop();
        const exported = await run("export", dump); // takes the act of the backup with it
        assert.equal(exported.code, 0, exported.err);
        server = await startServerHere({ env, dataDir: folder });
        for (const [action, file] of [["backup_made", copy] as const, ["data_exported", dump] as const]) {
          const found = await list(`action=${action}`);
          assert.deepEqual(
            found.map(({ via, title }) => [via, title]),
            [["cli", file]],
          );
        }
        const empty = temporaryFolder();
        assert.equal((await holdpoint(["import", dump, "--data-dir", empty])).code, 0);
        const moved = await startServerHere({ env, dataDir: empty });
        const imported = await call(moved, "GET", "/audit?action=data_imported", undefined, { "x-api-key": ADMIN });
        assert.equal((imported.body["items"] as readonly Entry[]).length, 1);
        const kept = await call(moved, "GET", "/audit?action=backup_made", undefined, { "x-api-key": ADMIN });
        assert.equal((kept.body["items"] as readonly Entry[]).length, 1);
        const verdict = await call(moved, "GET", "/audit/verify", undefined, { "x-api-key": ADMIN });
        assert.equal(verdict.body["intact"], true);
        await moved.stop();
        removeFolder(empty);
      });
  });
