// Test of `holdpoint ask` and `holdpoint approve`. Rules:
//   cli-ask.1. The exit code is 0 for the first choice or any answer without choices, 1 for another choice, 3 without an
//        answer. The output is the answer alone, with --json the request.
//   cli-ask.2. `approve` runs its command when a person approved it, with its streams and its exit code, and else never.
//   cli-ask.3. Without a server the exit code is 69; a question that is no question is an error of usage.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type FakeRequests, startFakeRequests } from "../fakes/requests.ts";
import { type Ended, holdpoint, verb } from "../harness/cli.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";

async function start(t: TestContext): Promise<FakeRequests> {
  const server = await startFakeRequests();
  t.after(() => {
    server.close();
    assert.deepEqual(server.violations, []);
  });
  return server;
}

type End = Readonly<Record<string, unknown>>;
const answered = (answer: unknown): End => ({ status: "answered", answer, answered_by: "ann" });
const decided = (decision: object): End => answered({ decisions: [decision] });

async function finish(server: FakeRequests, end: End, command: Promise<Ended>): Promise<Ended> {
  await server.opened(1);
  server.end(0, end);
  return command;
}

const CHOICES = ["--choice", "yes", "--choice", "no"];
const ASKED: readonly (readonly [args: readonly string[], end: End, code: number, out: string])[] = [
  [CHOICES, answered("yes"), 0, "yes\n"],
  [CHOICES, answered("no"), 1, "no\n"],
  [[], answered("tomorrow\nat noon"), 0, "tomorrow\nat noon\n"],
  [["--schema", '{"type":"object"}'], answered({ day: 3 }), 0, '{"day":3}\n'],
  [CHOICES, { status: "expired" }, 3, ""],
  [CHOICES, { status: "cancelled", reason: "too late" }, 3, ""],
  [[], answered("\u001b[2Jgone"), 0, "\\u001b[2Jgone\n"],
];
for (const [args, end, code, out] of ASKED)
  test(`ask ${args.join(" ")} ends with ${code} after ${JSON.stringify(end)} (cli-ask.1)`, async (t) => {
    const server = await start(t);
    const command = verb(["ask", "Deploy?", ...args], { env: { HOLDPOINT_URL: server.url } });
    const ended = await finish(server, end, command);
    assert.deepEqual([ended.code, ended.out], [code, out], ended.err);
    assert.match(ended.err, /^waiting for an answer at http:\/\/inbox\.example\/1$/m);
    if (code === 3) assert.match(ended.err, /^no answer: the question is (expired|cancelled: too late)$/m);
  });

test("the options of ask are members of the request, and --json prints it (cli-ask.1)", async (t) => {
  const server = await start(t);
  const words = [
    "--timeout",
    "2h",
    "--key",
    "deploy-1",
    "--title",
    "Deploy",
    "--assignee",
    "ann",
    "--assignee",
    "group:x",
  ];
  const more = ["--approvals", "2", "--priority", "high", "--metadata", '{"a":1}', "--json", "--url", server.url];
  const ended = await finish(server, answered("no"), verb(["ask", "Deploy?", ...CHOICES, ...words, ...more]));
  assert.equal(ended.code, 1);
  assert.equal((JSON.parse(ended.out) as End)["answer"], "no");
  assert.equal(server.kept[0]?.key, "deploy-1");
  assert.deepEqual(server.kept[0].body, {
    payload: "Deploy?",
    response_schema: { enum: ["yes", "no"] },
    title: "Deploy",
    deadline: 7200,
    assignees: ["ann", "group:x"],
    review: { approvals: 2 },
    priority: "high",
    metadata: { a: 1 },
  });
});

test("a wait that loses its server says so once, and goes on (cli-ask.1)", async (t) => {
  const server = await start(t);
  server.fail({ status: 503 }, { status: 503 });
  const ended = await finish(server, answered("yes"), verb(["ask", "Deploy?", "--url", server.url]));
  assert.deepEqual([ended.code, ended.out], [0, "yes\n"]);
  assert.equal(ended.err.match(/trying again/g)?.length, 1, ended.err);
});

const PRINTS = [process.execPath, "-e", "console.log(process.argv[1]); process.exit(7)"];
const DECIDED: readonly (readonly [end: End, code: number, out: string])[] = [
  [decided({ type: "approve" }), 7, "--tag it's\n"],
  [decided({ type: "reject", message: "not today" }), 1, ""],
  [decided({ type: "edit", editedAction: { args: {} } }), 1, ""],
  [{ status: "expired" }, 3, ""],
];
for (const [end, code, out] of DECIDED)
  test(`approve ends with ${code} after ${JSON.stringify(end)} (cli-ask.2)`, async (t) => {
    const server = await start(t);
    const env = { HOLDPOINT_URL: server.url };
    const ended = await finish(server, end, holdpoint(["approve", "--", ...PRINTS, "--", "--tag it's"], { env }));
    assert.deepEqual([ended.code, ended.out], [code, out], ended.err);
    const { actionRequests, reviewConfigs } = (server.kept[0] ?? assert.fail()).body["payload"] as {
      readonly actionRequests: readonly { readonly args: { readonly command: string } }[];
      readonly reviewConfigs: readonly object[];
    };
    assert.match(actionRequests[0]?.args.command ?? "", / -- '--tag it'\\''s'$/);
    assert.deepEqual(reviewConfigs, [{ actionName: process.execPath, allowedDecisions: ["approve", "reject"] }]);
  });

test("options after the command belong to the command, without `--` too (cli-ask.2)", async (t) => {
  const server = await start(t);
  const folder = temporaryFolder();
  t.after(() => removeFolder(folder));
  const made = join(folder, "made");
  const ended = await finish(
    server,
    decided({ type: "approve" }),
    holdpoint(["approve", "mkdir", "-p", made], { env: { HOLDPOINT_URL: server.url } }),
  );
  assert.deepEqual([ended.code, existsSync(made)], [0, true], ended.err);
});

const WRONG: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
  [["ask", "Deploy?"], 69, /no server runs in this project/],
  [["ask", "Deploy?", "--url", "x"], 2, /--url is not a URL/],
  [["ask", "Deploy?", "--timeout", "soon"], 2, /--timeout soon is no duration/],
  [["ask", "Deploy?", "--choice", "a", "--schema", "{}"], 2, /not both/],
  [["ask", "Deploy?", "--schema", "{"], 2, /--schema is not JSON/],
  [["ask"], 2, /missing required argument/],
  [["approve", "0fb6c8e1"], 2, /Did you mean holdpoint inbox approve 0fb6c8e1\?/],
];
for (const [args, code, message] of WRONG)
  test(`${args.join(" ")} ends with ${code} (cli-ask.3)`, async () => {
    const ended = await verb(args);
    assert.deepEqual([ended.code, ended.out], [code, ""]);
    assert.match(ended.err, message);
  });
