// Test of the console's own API: console-api.1 and console-api.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { createFinder } from "@holdpoint/base/http/server/request-path.ts";
import { consoleApiRoutes, type LocalServices } from "./console-api.ts";
import type { Caller, Role, Scope } from "../model/model.ts";
import type { Access, AccessRequest } from "../ports/ports.ts";

const BESIDE: LocalServices = {
  traces: [
    { method: "get", path: "/traces", handle: async () => ({ status: 200, body: '{"items":[],"next_cursor":null}' }) },
    { method: "delete", path: "/traces", handle: async () => ({ status: 200, body: '{"traces":0}' }) },
    { method: "delete", path: "/traces/{trace_id}", handle: none },
  ],
  collector: {
    url: "http://127.0.0.1:4318",
    metrics: async () => "up 1",
    problems: () => [],
    sendSample: async () => "trace",
  },
  settings: [],
  graphs: [],
  loadProblem: () => null,
  versions: { holdpoint: "1" },
};
const CALLER: Caller = { name: "ada", user: null, permissions: [] };

function createTestAccess(scope: Scope, asked: string[]): Access {
  return {
    async authenticate({ headers }) {
      if (headers["x-api-key"] !== "good") throw new ApiError("unauthenticated", "no");
      return CALLER;
    },
    async authorize(_caller, { event, value }) {
      asked.push(event);
      return { scope, value };
    },
  };
}

async function ask(
  localServices: LocalServices,
  access: Access | null,
  method: string,
  path: string,
  key = "",
): Promise<string> {
  const { route, params } = createFinder(consoleApiRoutes(localServices, access)).find(method, path);
  const request = { method, path, params, query: {}, url: path, headers: { "x-api-key": key } };
  try {
    const { status, body } = await route.handle({
      ...request,
      remoteAddress: "",
      readBody: none,
      readForm: none,
      onDisconnect: none,
    });
    assert.ok(typeof body === "string");
    return `${status} ${body}`;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

function none(): never {
  throw new Error("nothing of this is read");
}

const PATHS = [
  ["GET", "/console/api/about", "threads:search"],
  ["GET", "/console/api/traces", "threads:search"],
  ["DELETE", "/console/api/traces", "people:delete"],
  ["GET", "/console/api/collector", "threads:search"],
  ["POST", "/console/api/collector/sample", "threads:create"],
  ["GET", "/console/api/what/else", "threads:search"],
] as const;

for (const [method, path, event] of PATHS) {
  test(`${method} ${path} is for callers who authenticate and may see every thread (console-api.1)`, async () => {
    const asked: string[] = [];
    assert.equal(await ask(BESIDE, createTestAccess(null, asked), method, path), "unauthenticated");
    assert.deepEqual(asked, []);
    const some = createTestAccess([{ owner: "ada" }] as never, asked);
    const limited = await ask(BESIDE, some, method, path, "good");
    assert.match(limited, method === "GET" && path.endsWith("/traces") ? /^200 \{"items":\[\]/ : /^forbidden$/);
    assert.deepEqual(asked, [event]);
    const all = await ask(BESIDE, createTestAccess(null, asked), method, path, "good");
    assert.match(all, path.endsWith("else") ? /^part_absent$/ : /^200 /);
  });
}

test("a missing service is an error, never the page (console-api.2)", async () => {
  const alone: LocalServices = { ...BESIDE, traces: null, collector: null };
  for (const path of [
    "/console/api/traces",
    "/console/api/traces/projects",
    "/console/api/collector",
    "/console/api/x",
  ])
    assert.equal(await ask(alone, null, "GET", path), "part_absent");
  assert.equal(
    await ask(alone, null, "GET", "/console/api/about"),
    '200 {"traces":false,"collector":null,"settings":[],"graphs":[],"versions":{"holdpoint":"1"}}',
  );
});

test("every caller learns its name, its role, and what the role may do", async () => {
  const said = async (role?: Role): Promise<Record<string, unknown>> => {
    const access = createTestAccess([], []);
    const authenticate = async (request: AccessRequest): Promise<Caller> => ({
      ...(await access.authenticate(request)),
      ...(role === undefined ? {} : { role }),
    });
    const text = await ask(BESIDE, { ...access, authenticate }, "GET", "/console/api/caller", "good");
    return JSON.parse(text.slice("200 ".length)) as Record<string, unknown>;
  };
  const { may, ...rest } = await said();
  const nobody = { display_name: null, email: null, groups: [], limits: null, read_only: false, signed_in: false };
  assert.deepEqual(rest, { ...nobody, name: "ada", display_name: "ada", role: null });
  assert.equal(may, null);
  assert.equal((await said("viewer"))["read_only"], true);
  const reviewer = await said("reviewer");
  assert.deepEqual([reviewer["role"], reviewer["read_only"]], ["reviewer", false]);
  const events = reviewer["may"] as readonly string[];
  assert.ok(events.includes("threads:answer") && !events.includes("threads:create_run"));
  const open = await ask(BESIDE, null, "GET", "/console/api/caller");
  assert.deepEqual(JSON.parse(open.slice("200 ".length)), { ...nobody, name: null, role: null, may: null });
  assert.equal(await ask(BESIDE, createTestAccess(null, []), "GET", "/console/api/caller", "bad"), "unauthenticated");
});
