// Test of authorization: every route of the OpenAPI document against every kind of caller.
// Rules:
//   authorisation.1. Without credentials, or with bad or expired ones, every route but the probes rejects the call
//        before any lookup.
//   authorisation.2. Another tenant's data looks absent: at every place for an id, in paths and bodies, the reply
//        equals that to an unknown id. No list, stream or error shows a trace of it.
//   authorisation.3. Attempts of another tenant change nothing.
//   authorisation.4. A read-only caller gets a rejection for each call that changes something, and for no other.
//   authorisation.6. A caller with a role gets a rejection for each route whose event needs a higher role, and for no
//        other.
//   authorisation.5. A route missing from the table below fails the test.
// Real process, real sockets, handlers written with the SDK's Auth (graphs/tenants/auth.ts); then the same with API
// keys.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { leastRole, roleMay } from "@holdpoint/server/auth/roles.ts";
import { ROLES, type Role } from "@holdpoint/server/model/identity.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, type Answer } from "../harness/server.ts";
import { raw } from "../harness/raw.ts";
import { PATIENCE } from "../harness/patience.ts";

const TENANTS = join(ROOT, "test", "graphs", "tenants", "langgraph.json");
/** In everything that Ann's tenant has: names, metadata, state, items. */
const CANARY = "canary-of-acme-77b1";
const READ_KEY = "key-that-reads-4d1c9";
const FULL_KEY = "key-that-writes-8a2e";
const KEYS_OF_ROLES: Readonly<Record<Role, string>> = {
  viewer: READ_KEY,
  reviewer: "key-that-answers-52ba",
  requester: "key-that-asks-93be",
  operator: "key-that-operates-0c7f",
  admin: FULL_KEY,
};

const { requester, viewer, reviewer, operator } = KEYS_OF_ROLES;
const KEYS = `ann:${FULL_KEY},eve:${viewer}:viewer,rita:${reviewer}:reviewer,otto:${operator}:operator,quin:${requester}:requester`;
const server = await startServerHere({ config: TENANTS, env: { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "0" } });
const keyed = await startServerHere({ env: { HOLDPOINT_API_KEYS: KEYS } });
after(async () => {
  for (const one of [server, keyed]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
});

/** Far from being due. */
const CRON = { assistant_id: "agent", schedule: "0 0 29 2 *" };

type Headers = Record<string, string>;
const as = (name: string): Headers => ({ authorization: `Bearer token-${name}` });

interface Ids {
  readonly thread_id: string;
  readonly run_id: string;
  readonly checkpoint_id: string;
  readonly assistant_id: string;
  readonly interrupt_id: string;
  readonly cron_id: string;
  readonly request_id: string;
  readonly [other: string]: string;
}

/** A thread paused at a question, its run, its checkpoint, a cron of it; an assistant; an item of the store. */
async function createWorld(name: string, mark: string): Promise<Ids> {
  const post = async (path: string, body: unknown): Promise<Record<string, never>> => {
    const answer = await call(server, "POST", path, body, as(name));
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.body;
  };
  const assistant = await post("/assistants", { graph_id: "agent", name: mark, metadata: { mark }, context: { mark } });
  const { thread_id: threadId = "" } = await post("/threads", { metadata: { mark } });
  await post(`/threads/${threadId}/runs/wait`, {
    assistant_id: "agent",
    input: { some_text: mark },
    metadata: { mark },
  });
  const cron = await post(`/threads/${threadId}/runs/crons`, { ...CRON, metadata: { mark }, input: { mark } });
  const get = async (path: string): Promise<never> => (await call(server, "GET", path, undefined, as(name))).body;
  const [run]: readonly { readonly run_id: string }[] = await get(`/threads/${threadId}/runs`);
  const state: {
    readonly checkpoint: { readonly checkpoint_id: string };
    readonly interrupts: readonly { readonly id: string }[];
  } = await get(`/threads/${threadId}/state`);
  const asked = await call(server, "POST", "/requests", { payload: { mark } }, as(name));
  await call(server, "PUT", "/store/items", { namespace: ["own"], key: "k", value: { mark } }, as(name));
  return {
    thread_id: threadId,
    run_id: run?.run_id ?? "",
    checkpoint_id: state.checkpoint.checkpoint_id,
    assistant_id: String(assistant["assistant_id"]),
    interrupt_id: state.interrupts[0]?.id ?? "",
    cron_id: String(cron["cron_id"]),
    request_id: String((asked.body as Record<string, unknown>)["request_id"]),
    namespace: "none",
    webhook_id: "none",
    key_id: randomUUID(),
    policy_id: randomUUID(),
    person: "none",
  };
}

const ann = await createWorld("ann", CANARY);
const bob = await createWorld("bob", "mark-of-bolt");
const busy = await call(
  server,
  "POST",
  "/runs",
  { assistant_id: "slow", input: { waitMs: 600_000 }, metadata: { mark: CANARY } },
  as("ann"),
);
const { run_id: busyRun }: { readonly run_id: string } = busy.body;

/** Names in paths that stand for nothing of a tenant. */
const NO_OBJECT = new Set(["namespace", "webhook_id", "key_id", "policy_id", "person"]);

function unknown(name: string): string {
  return name === "interrupt_id" ? randomUUID().replaceAll("-", "") : NO_OBJECT.has(name) ? "none" : randomUUID();
}

interface Entry {
  /** The request body; ids in it count as places for ids, like those of the path. */
  readonly body?: (ids: Ids) => unknown;
  readonly query?: string | ((ids: Ids) => string);
  /** Places of ids in the body and the query. */
  readonly places?: readonly string[];
  /** An id that the caller chooses for a new object: a conflict reveals that it exists, by design. */
  readonly chooses?: string;
  /** It changes something, although its route is one that reads. */
  readonly changes?: true;
  /** It is about all threads: a caller with a scope is refused. */
  readonly whole?: true;
  /** Does not end by itself. */
  readonly endless?: true;
}

const RUN = { assistant_id: "agent", input: { some_text: "x" } };
const run = (more: object = {}) => ({ body: () => ({ ...RUN, ...more }) });
const ofAssistant = { body: ({ assistant_id }: Ids) => ({ ...RUN, assistant_id }), places: ["assistant_id"] };
const list = { body: () => ({ limit: 100 }) };
const ITEM = { namespace: ["own"], key: "k" };

/** Every route (authorisation.5), with one or more requests to it. */
const MATRIX: Readonly<Record<string, readonly Entry[]>> = {
  "GET /ok": [{}],
  "GET /live": [{}],
  "GET /ready": [{}],
  "GET /info": [{}],
  "GET /metrics": [{}],
  "GET /openapi.json": [{}],

  "POST /assistants": [
    { body: () => ({ graph_id: "agent", metadata: { org: "acme" } }) },
    { body: ({ assistant_id }) => ({ graph_id: "agent", assistant_id }), chooses: "assistant_id" },
    {
      body: ({ assistant_id }) => ({ graph_id: "agent", assistant_id, if_exists: "do_nothing" }),
      chooses: "assistant_id",
    },
  ],
  "POST /assistants/search": [list, { body: () => ({ metadata: { org: "acme" }, limit: 100 }) }],
  "POST /assistants/count": [{ body: () => ({ metadata: { mark: CANARY } }) }],
  "GET /assistants/{assistant_id}": [{}],
  "GET /assistants/{assistant_id}/graph": [{}, { query: "xray=true" }],
  "GET /assistants/{assistant_id}/schemas": [{}],
  "GET /assistants/{assistant_id}/subgraphs": [{}],
  "GET /assistants/{assistant_id}/subgraphs/{namespace}": [{}],
  "PATCH /assistants/{assistant_id}": [
    { body: () => ({ name: "taken" }) },
    { body: () => ({ metadata: { org: "bolt" } }) },
  ],
  "DELETE /assistants/{assistant_id}": [{}, { query: "delete_threads=true" }],
  "POST /assistants/{assistant_id}/versions": [{ body: () => ({}) }],
  "POST /assistants/{assistant_id}/latest": [{ body: () => ({ version: 1 }) }],

  "POST /threads": [
    { body: () => ({ metadata: { org: "acme" } }) },
    { body: ({ thread_id }) => ({ thread_id }), chooses: "thread_id" },
    { body: ({ thread_id }) => ({ thread_id, if_exists: "do_nothing" }), chooses: "thread_id" },
  ],
  "POST /threads/search": [
    list,
    { body: ({ thread_id }) => ({ ids: [thread_id] }), places: ["thread_id"] },
    { body: () => ({ metadata: { org: "acme" } }) },
    { body: () => ({ q: CANARY }) },
    { body: () => ({ values: { some_text: CANARY } }) },
    { body: () => ({ status: "interrupted", limit: 100 }) },
  ],
  "POST /threads/count": [
    { body: () => ({ metadata: { mark: CANARY } }) },
    { body: ({ thread_id }) => ({ ids: [thread_id] }), places: ["thread_id"] },
  ],
  "GET /threads/{thread_id}": [{}],
  "PATCH /threads/{thread_id}": [{ body: () => ({ metadata: { org: "bolt" } }) }],
  "DELETE /threads/{thread_id}": [{}],
  "GET /threads/{thread_id}/storage": [{}],
  "POST /threads/{thread_id}/copy": [{}],
  "GET /threads/{thread_id}/stream": [{ endless: true }],
  "GET /threads/{thread_id}/stream/events": [{}],
  "POST /threads/{thread_id}/stream/events": [
    { body: () => ({ channels: ["values", "lifecycle", "input"] }), endless: true },
  ],
  "POST /threads/{thread_id}/stream/tickets": [{}],
  "POST /threads/{thread_id}/commands": [
    { body: () => ({ id: 1, method: "state.get" }) },
    { body: () => ({ id: 1, method: "state.listCheckpoints" }) },
    { body: () => ({ id: 1, method: "agent.getTree" }) },
    { body: ({ run_id }) => ({ id: 1, method: "agent.getTree", params: { run_id } }), places: ["run_id"] },
    {
      body: ({ interrupt_id }) => ({ id: 1, method: "input.respond", params: { interrupt_id, response: "taken" } }),
      places: ["interrupt_id"],
      changes: true,
    },
    {
      body: ({ checkpoint_id }) => ({ id: 1, method: "state.fork", params: { checkpoint_id } }),
      places: ["checkpoint_id"],
      changes: true,
    },
  ],
  "GET /audit": [
    {},
    { query: "format=csv" },
    { query: `q=${CANARY}` },
    { query: ({ thread_id }) => `thread_id=${thread_id}`, places: ["thread_id"] },
    { query: ({ assistant_id }) => `assistant_id=${assistant_id}`, places: ["assistant_id"] },
  ],
  "GET /audit/verify": [{ whole: true }],
  "GET /threads/{thread_id}/audit": [{}, { query: "format=csv" }],
  "POST /threads/prune": [
    { body: ({ thread_id }) => ({ thread_ids: [thread_id] }), places: ["thread_id"] },
    { body: ({ thread_id }) => ({ thread_ids: [thread_id], strategy: "keep_latest" }), places: ["thread_id"] },
  ],
  "POST /threads/{thread_id}/erase": [{}, { body: () => ({ dry_run: true }) }],
  "PATCH /threads/{thread_id}/state": [{ body: () => ({ metadata: { org: "bolt" } }) }],
  "GET /threads/{thread_id}/state": [{}, { query: "subgraphs=true" }],
  "GET /threads/{thread_id}/state/{checkpoint_id}": [{}],
  "POST /threads/{thread_id}/state": [
    { body: () => ({ values: { some_text: "taken" } }) },
    { body: () => ({ values: null, as_node: "__end__" }) },
    { body: ({ checkpoint_id }) => ({ values: {}, checkpoint_id }), places: ["checkpoint_id"] },
  ],
  "POST /threads/{thread_id}/state/checkpoint": [
    { body: ({ checkpoint_id }) => ({ checkpoint: { checkpoint_id } }), places: ["checkpoint_id"] },
  ],
  "GET /threads/{thread_id}/history": [{}],
  "POST /threads/{thread_id}/history": [{ body: () => ({ limit: 5 }) }],

  "GET /threads/{thread_id}/runs": [{}],
  "POST /threads/{thread_id}/runs": [
    run(),
    ofAssistant,
    run({ command: { resume: "taken" }, input: null }),
    run({ multitask_strategy: "rollback" }),
    { body: ({ checkpoint_id }) => ({ ...RUN, checkpoint_id }), places: ["checkpoint_id"] },
  ],
  "POST /threads/{thread_id}/runs/wait": [run(), ofAssistant, run({ command: { resume: "taken" }, input: null })],
  "POST /threads/{thread_id}/runs/stream": [run(), ofAssistant, run({ command: { resume: "taken" }, input: null })],
  "GET /threads/{thread_id}/runs/{run_id}": [{}],
  "GET /threads/{thread_id}/runs/{run_id}/join": [{}, { query: "cancel_on_disconnect=true" }],
  "GET /threads/{thread_id}/runs/{run_id}/stream": [{}, { query: "cancel_on_disconnect=true" }],
  "POST /threads/{thread_id}/runs/{run_id}/cancel": [{}, { query: "wait=1&action=rollback" }],
  "DELETE /threads/{thread_id}/runs/{run_id}": [{}],
  "POST /threads/{thread_id}/runs/{run_id}/webhooks": [{ body: () => ({ url: "https://hooks.example.com/x" }) }],
  "GET /threads/{thread_id}/runs/{run_id}/webhooks": [{}],
  "DELETE /threads/{thread_id}/runs/{run_id}/webhooks/{webhook_id}": [{}],

  "POST /runs": [
    run(),
    ofAssistant,
    { body: ({ thread_id }) => ({ ...RUN, thread_id }), places: ["thread_id"] },
    run({ on_completion: "keep", metadata: { org: "acme" } }),
  ],
  "POST /runs/wait": [run(), ofAssistant, { body: ({ thread_id }) => ({ ...RUN, thread_id }), places: ["thread_id"] }],
  "POST /runs/stream": [
    run(),
    ofAssistant,
    { body: ({ thread_id }) => ({ ...RUN, thread_id }), places: ["thread_id"] },
  ],
  "POST /runs/batch": [
    { body: () => [RUN, RUN] },
    { body: ({ assistant_id }) => [RUN, { ...RUN, assistant_id }], places: ["assistant_id"] },
    { body: ({ thread_id }) => [RUN, { ...RUN, thread_id }], places: ["thread_id"] },
  ],
  "POST /runs/cancel": [
    { body: () => ({ status: "all" }) },
    { body: ({ thread_id }) => ({ thread_id, status: "all" }), places: ["thread_id"] },
    { body: ({ thread_id, run_id }) => ({ thread_id, run_ids: [run_id] }), places: ["thread_id", "run_id"] },
  ],
  "GET /runs/{run_id}": [{}],
  "GET /runs/{run_id}/join": [{}, { query: "cancel_on_disconnect=true" }],
  "GET /runs/{run_id}/stream": [{}, { query: "cancel_on_disconnect=true" }],

  "POST /runs/crons": [
    { body: () => ({ ...CRON, metadata: { org: "acme" } }) },
    { body: ({ assistant_id }) => ({ ...CRON, assistant_id }), places: ["assistant_id"] },
  ],
  "POST /threads/{thread_id}/runs/crons": [
    { body: () => CRON },
    { body: ({ assistant_id }) => ({ ...CRON, assistant_id }), places: ["assistant_id"] },
  ],
  "POST /runs/crons/search": [
    list,
    { body: () => ({ metadata: { org: "acme" } }) },
    { body: ({ thread_id }) => ({ thread_id }), places: ["thread_id"] },
    { body: ({ assistant_id }) => ({ assistant_id }), places: ["assistant_id"] },
  ],
  "POST /runs/crons/count": [
    { body: () => ({ metadata: { mark: CANARY } }) },
    { body: ({ thread_id }) => ({ thread_id }), places: ["thread_id"] },
  ],
  "GET /runs/crons/{cron_id}": [{}],
  "PATCH /runs/crons/{cron_id}": [
    { body: () => ({ enabled: false }) },
    { body: () => ({ metadata: { org: "bolt" } }) },
  ],
  "DELETE /runs/crons/{cron_id}": [{}],

  "GET /inbox": [
    { query: "limit=100" },
    { query: `q=${CANARY}` },
    { query: ({ thread_id }) => `thread_id=${thread_id}`, places: ["thread_id"] },
    { query: ({ assistant_id }) => `assistant_id=${assistant_id}`, places: ["assistant_id"] },
    { query: `metadata=${encodeURIComponent('{"org":"acme"}')}` },
  ],
  "GET /inbox/count": [
    {},
    { query: ({ thread_id }) => `thread_id=${thread_id}`, places: ["thread_id"] },
    { query: ({ assistant_id }) => `assistant_id=${assistant_id}`, places: ["assistant_id"] },
  ],
  "GET /inbox/facets": [
    {},
    { query: `q=${CANARY}` },
    { query: ({ thread_id }) => `thread_id=${thread_id}`, places: ["thread_id"] },
    { query: ({ assistant_id }) => `assistant_id=${assistant_id}`, places: ["assistant_id"] },
  ],
  "GET /inbox/events": [{ endless: true }],
  "GET /inbox/{thread_id}/{interrupt_id}": [{}],
  "POST /inbox/{thread_id}/{interrupt_id}/claim": [{ body: () => ({}) }],
  "POST /inbox/{thread_id}/{interrupt_id}/release": [{ body: () => ({ force: true }) }],
  "POST /inbox/{thread_id}/{interrupt_id}/assign": [{ body: () => ({ to: "bob", force: true }) }],
  "POST /inbox/{thread_id}/{interrupt_id}/ask-again": [{ body: () => ({}) }],
  "POST /inbox/{thread_id}/{interrupt_id}/snooze": [{ body: () => ({ for_seconds: 60 }) }],
  "POST /inbox/{thread_id}/{interrupt_id}/comments": [{ body: () => ({ text: "taken" }) }],
  "GET /inbox/{thread_id}/{interrupt_id}/comments": [{}],
  "POST /inbox/answers": [
    {
      body: ({ thread_id, interrupt_id }) => [{ thread_id, interrupt_id, resume: "taken" }],
      places: ["thread_id", "interrupt_id"],
    },
  ],

  "POST /requests": [{ body: () => ({ payload: "x", metadata: { org: "acme" } }) }],
  "POST /requests/search": [list, { body: () => ({ metadata: { org: "acme" } }) }, { body: () => ({ q: CANARY }) }],
  "GET /requests/{request_id}": [{}, { query: "wait=0.01" }],
  "GET /requests/{request_id}/events": [{ endless: true }],
  "POST /requests/{request_id}/answer": [{ body: () => ({ answer: "taken" }) }],
  "POST /requests/{request_id}/cancel": [{ body: () => ({ reason: "taken" }) }],

  "POST /policies": [{ body: () => ({ action: "taken", answer: "approve" }) }],
  "GET /policies": [{}],
  "POST /policies/dry-run": [{ body: () => ({ action: "taken", answer: "approve" }) }],
  "DELETE /policies/{policy_id}": [{}],
  "POST /keys": [{ body: () => ({ name: "taken", role: "admin" }) }],
  "GET /keys": [{}],
  "DELETE /keys/{key_id}": [{}],
  "GET /people": [{}],
  "GET /people/me/console": [{}],
  "PUT /people/me/console": [{ body: () => ({ revision: "", views: [], seen: [], tab: "" }) }],
  "DELETE /people/{person}": [{}],
  "POST /people/{person}/erase": [{}],

  "PUT /store/items": [{ body: () => ({ ...ITEM, value: { mark: "mark-of-bolt" } }) }],
  "GET /store/items": [{ query: "namespace=own&key=k" }, { query: "namespace=acme.own&key=k" }],
  "DELETE /store/items": [{ body: () => ({ namespace: ["acme", "own"], key: "k" }) }],
  "POST /store/items/search": [
    { body: () => ({}) },
    { body: () => ({ namespace_prefix: ["acme"] }) },
    { body: () => ({ namespace_prefix: ["own"], filter: { mark: CANARY } }) },
  ],
  "POST /store/namespaces": [{ body: () => ({}) }, { body: () => ({ prefix: ["acme"] }) }],
};

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly access: string;
}

type Document = Readonly<Record<string, Readonly<Record<string, { readonly "x-access": string }>>>>;
const { paths }: { readonly paths: Document } = (await call(server, "GET", "/openapi.json", undefined, as("ann"))).body;
const routes: readonly Route[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { "x-access": access }]) => {
    return { name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, access };
  }),
);

const before = await snapshot();

test("every route is in the table (authorisation.5)", () => {
  assert.deepEqual(
    routes.map(({ name }) => name).filter((name) => !Object.hasOwn(MATRIX, name)),
    [],
  );
});

test("docs/reference/auth.md has the event of every route (authorisation.5)", () => {
  const page = readFileSync(join(ROOT, "docs/reference/auth.md"), "utf8");
  const documented = [...page.matchAll(/^\| `([a-z_]+:[a-z_]+)` \| (.*) \|$/gm)].flatMap(([, event, calls = ""]) =>
    [...calls.matchAll(/`([^`]+)`/g)].map(([, name]) => `${name} ${event}`),
  );
  const asked = routes.filter(({ access }) => access.includes(":")).map(({ name, access }) => `${name} ${access}`);
  assert.deepEqual(documented.toSorted(), asked.toSorted());
});

/** Replaces the ids in the text by their names. */
interface Seen {
  readonly status: number;
  readonly text: string;
}

async function ask(on: ServerHere, route: Route, entry: Entry, ids: Ids, headers: Headers): Promise<Seen> {
  const query = typeof entry.query === "function" ? entry.query(ids) : entry.query;
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? assert.fail(`no ${name}`));
  const url = `${path}${query === undefined ? "" : `?${query}`}`;
  if (entry.endless === true) {
    const { status, text } = await firstPiece(on, route.method, url, entry.body?.(ids), headers);
    return { status, text: masked(text, ids) };
  }
  const { status, text }: Answer = await call(on, route.method, url, entry.body?.(ids), headers);
  return { status, text: masked(text, ids) };
}

async function firstPiece(on: ServerHere, method: string, url: string, body: unknown, headers: Headers): Promise<Seen> {
  const controller = new AbortController();
  const response = await fetch(`${on.url}${url}`, {
    method,
    headers: {
      ...headers,
      "last-event-id": "-1",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: controller.signal,
  });
  const { value } = (await response.body?.getReader().read()) ?? {};
  controller.abort();
  return { status: response.status, text: new TextDecoder().decode(value) };
}

function masked(text: string, ids: Ids): string {
  let out = text;
  for (const [name, value] of Object.entries(ids)) if (value !== "none") out = out.replaceAll(value, `<${name}>`);
  return out;
}

/** Without ids and times that are new with every reply. */
function settled({ status, text }: Seen): Seen {
  const same = text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<new id>")
    .replaceAll(/"ticket":"[\w-]{43}"/g, '"ticket":"<new>"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  return { status, text: same };
}

function listPlaces(route: Route, entry: Entry): readonly string[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !NO_OBJECT.has(name));
  return [...new Set([...inPath, ...(entry.places ?? [])])];
}

const OUTSIDERS: readonly (readonly [who: string, headers: Headers])[] = [
  ["nobody", {}],
  ["a token that nobody has", as("nobody")],
  ["an expired token", as("expired")],
  ["a token that the check fails on", as("broken")],
  ["a studio", { "x-auth-scheme": "langsmith" }],
  ["a cookie", { cookie: "authorization=Bearer token-ann" }],
];

for (const route of routes) {
  const entries = MATRIX[route.name] ?? [];

  test(
    `${route.name}: ${route.access === "public" ? "open to all callers" : "rejects unknown callers"} (authorisation.1)`,
    PATIENCE,
    async () => {
      for (const [who, headers] of OUTSIDERS) {
        for (const entry of entries) {
          const { status, text } = await ask(server, route, entry, ann, headers);
          if (route.access === "public") assert.equal(status, 200, who);
          else {
            assert.equal(status, 401, `${who}: ${text}`);
            assert.match(text, /"code":"unauthenticated"/);
          }
        }
      }
      const outside = await raw(server, {
        method: route.method,
        path: route.path.replaceAll(/\{\w+\}/g, "x"),
        body: "{",
      });
      if (route.access !== "public") assert.equal(outside.status, 401, "a wrong body or id is not looked at");
    },
  );

  test(`${route.name}: another tenant sees none of the data (authorisation.2)`, PATIENCE, async () => {
    for (const entry of entries) {
      const places = listPlaces(route, entry);
      const attempts = places.length > 1 ? [...places.map((place) => [place]), places] : [places];
      for (const attempt of attempts) {
        const with_ = (id: (name: string) => string): Ids => ({
          ...bob,
          ...Object.fromEntries(attempt.map((name) => [name, id(name)])),
        });
        const accepted = await ask(
          server,
          route,
          entry,
          with_((name) => ann[name] ?? ""),
          as("bob"),
        );
        assert.ok(!accepted.text.includes(CANARY), `${attempt.join()}: ${accepted.text}`);
        for (const id of Object.values(ann)) assert.ok(id === "none" || !accepted.text.includes(id), accepted.text);
        if (attempt.length === 0) continue;
        const missing = await ask(server, route, entry, with_(unknown), as("bob"));
        assert.deepEqual(
          settled(accepted),
          settled(missing),
          `${attempt.join()} of another tenant differs from one that nobody has`,
        );
      }
      if (entry.chooses === undefined) continue;
      const chosen = await ask(server, route, entry, ann, as("bob"));
      assert.equal(chosen.status, 409, chosen.text);
      assert.ok(!chosen.text.includes(CANARY));
    }
  });
}

test("after all that, everything of the other tenant is as it was (authorisation.3)", PATIENCE, async () => {
  assert.deepEqual(await snapshot(), before);
});

/** All of Ann's data that her tenant can see. */
async function snapshot(): Promise<unknown> {
  const { thread_id: thread, run_id: runId, assistant_id: assistant, interrupt_id: interrupt } = ann;
  const reads: readonly (readonly [method: string, path: string, body?: object])[] = [
    ["GET", `/threads/${thread}`],
    ["GET", `/threads/${thread}/state`],
    ["GET", `/threads/${thread}/history`],
    ["GET", `/threads/${thread}/runs`],
    ["GET", `/threads/${thread}/audit`],
    ["GET", `/runs/${runId}`],
    ["GET", `/runs/${busyRun}`],
    ["GET", `/inbox/${thread}/${interrupt}`],
    ["GET", `/assistants/${assistant}`],
    ["POST", `/assistants/${assistant}/versions`, {}],
    ["POST", "/threads/search", { limit: 1000 }],
    ["POST", "/assistants/search", { limit: 1000 }],
    ["POST", "/runs/crons/search", { limit: 1000 }],
    ["POST", "/store/items/search", {}],
  ];
  const seen = [];
  for (const [method, path, body] of reads) {
    const { status, text } = await call(server, method, path, body, as("ann"));
    seen.push([path, status, text]);
    assert.ok(text.includes(CANARY) || path.endsWith("/audit"), `${path} shows what is to be kept: ${text}`);
  }
  return seen;
}

// Read-only callers, in both ways to authenticate (authorisation.1, authorisation.4).

const READING = /^(authenticated|public)$|^(?!keys|people).*:(read|search|get|list_namespaces)$/;
/** Reads with options that need more rights. */
const cancels = (entry: Entry): boolean =>
  String(entry.query).includes("cancel_on_disconnect") || entry.changes === true;

for (const route of routes) {
  const may = READING.test(route.access);
  test(`${route.name}: a read-only caller ${may ? "may" : "may not"} (authorisation.4)`, PATIENCE, async () => {
    for (const entry of MATRIX[route.name] ?? []) {
      const { status, text } = await ask(server, route, entry, ann, as("eve"));
      const { status: byKey, text: keyText } = await ask(keyed, route, entry, ann, { "x-api-key": READ_KEY });
      if (may && !cancels(entry)) {
        assert.equal(status === 403, entry.whole === true, text);
        assert.notEqual(byKey, 403, keyText);
        assert.notEqual(byKey, 401, keyText);
      } else {
        assert.equal(status, 403, text);
        assert.ok(byKey === 403 || (may && byKey === 404), keyText); // the lookup of the run comes first, and finds none
        assert.match(text, /"code":"forbidden"/);
      }
    }
  });

  test(`${route.name}: an unknown key, or none, is rejected (authorisation.1)`, PATIENCE, async () => {
    for (const headers of [{}, { "x-api-key": `${FULL_KEY}x` }, { authorization: `Basic ${FULL_KEY}` }]) {
      for (const entry of MATRIX[route.name] ?? []) {
        assert.equal((await ask(keyed, route, entry, ann, headers)).status, route.access === "public" ? 200 : 401);
      }
    }
  });
}

for (const route of routes.filter(({ access }) => access.includes(":"))) {
  const needed = leastRole(route.access);
  test(`${route.name} needs the role ${needed} (authorisation.6)`, PATIENCE, async () => {
    for (const role of ROLES) {
      for (const entry of MATRIX[route.name] ?? []) {
        if (cancels(entry)) continue;
        const { status, text } = await ask(keyed, route, entry, ann, { "x-api-key": KEYS_OF_ROLES[role] });
        if (roleMay(role, route.access)) assert.ok(status !== 401 && status !== 403, `${role}: ${text}`);
        else {
          assert.equal(status, 403, `${role}: ${text}`);
          assert.match(text, new RegExp(`"code":"forbidden".*"needed":"${needed}"`));
        }
      }
    }
  });
}

test("after all that, everything is still as it was (authorisation.3)", PATIENCE, async () => {
  assert.deepEqual(await snapshot(), before);
});
