// Tests of the terminal's inbox: its commands against a real server, as processes where the process matters.
// Rules:
//   cli-inbox.1. The list is a table that fits the terminal, or the API's own JSON.
//   cli-inbox.2. Each dialect gets an answer of its own form; values keep their types.
//   cli-inbox.3. An invalid answer is a one-line error with its exit code, and sends nothing.
//   cli-inbox.4. No output and no message has the key.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { holdpoint, lines, verb, type Ended } from "../harness/cli.ts";
import type { WireItem } from "../harness/inbox.ts";
import { call, removeFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

const KEY = "canary-key-of-the-terminal";
const headers = { "x-api-key": KEY };
let server: ServerHere;
let env: Readonly<Record<string, string>>;

before(async () => {
  server = await startServerHere({ env: { HOLDPOINT_API_KEYS: `ann:${KEY}` } });
  env = { HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: KEY };
});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const run = async (
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
  { input = "", how = verb, typed }: { input?: string; how?: typeof verb; typed?: readonly string[] } = {},
): Promise<Ended> => {
  const ended = await how(args, { env: { ...env, ...more }, input, ...(typed === undefined ? {} : { typed }) });
  assert.doesNotMatch(ended.out + ended.err, new RegExp(KEY)); // cli-inbox.4
  return ended;
};

/** Opens an interrupt with this value on a new thread. */
async function asking(payload: unknown): Promise<WireItem> {
  const { body } = await call(server, "POST", "/threads", {}, headers);
  const { thread_id: threadId } = body as { readonly thread_id: string };
  const input = { assistant_id: "echo", input: { payload } };
  await call(server, "POST", `/threads/${threadId}/runs/wait`, input, headers);
  const listed = await call(server, "GET", `/inbox?thread_id=${threadId}`, undefined, headers);
  const [item] = (listed.body as { readonly items: readonly WireItem[] }).items;
  assert.ok(item !== undefined, listed.text);
  return item;
}

/** The node's answer; undefined during the pause. */
async function answerOn({ thread_id: id }: WireItem): Promise<unknown> {
  const { body } = await call(server, "GET", `/threads/${id}/state`, undefined, headers);
  const { values } = body as { readonly values: { readonly answer?: readonly unknown[] } };
  return values.answer?.[0];
}

const place = ({ thread_id: thread, id }: WireItem): string => `${thread}/${id}`;

const ARGS = { to: "ann", amount: 12.5, urgent: false };
const HUMAN = [{ action_request: { action: "send", args: ARGS }, description: "To Ann" }];
const action = { name: "send", args: ARGS };
const SNAKE = { action_requests: [action], review_configs: [] };
const CAMEL = { actionRequests: [action], reviewConfigs: [] };
const SCHEMA = { question: "Sure?", response_schema: { type: "boolean" } };
const edited = { ...ARGS, amount: 7, urgent: true };
const SET = ["--set", "amount=7", "--set", "urgent=true"];

const ANSWERS: readonly (readonly [name: string, asked: unknown, args: readonly string[], gets: unknown])[] = [
  ["HumanInterrupt", HUMAN, ["approve"], [{ type: "accept", args: { action: "send", args: ARGS } }]],
  ["HumanInterrupt", HUMAN, ["edit", ...SET], [{ type: "edit", args: { action: "send", args: edited } }]],
  ["HumanInterrupt", HUMAN, ["reject"], [{ type: "ignore", args: null }]],
  ["HumanInterrupt", HUMAN, ["answer", "--text", "hm"], [{ type: "response", args: "hm" }]],
  ["snake case", SNAKE, ["approve"], { decisions: [{ type: "approve" }] }],
  [
    "snake case",
    SNAKE,
    ["edit", ...SET],
    { decisions: [{ type: "edit", edited_action: { name: "send", args: edited } }] },
  ],
  [
    "camel case",
    CAMEL,
    ["edit", ...SET],
    { decisions: [{ type: "edit", editedAction: { name: "send", args: edited } }] },
  ],
  [
    "camel case",
    CAMEL,
    ["edit", "--args", '{"to":5}'],
    { decisions: [{ type: "edit", editedAction: { name: "send", args: { to: 5 } } }] },
  ],
  ["camel case", CAMEL, ["reject", "-m", "no"], { decisions: [{ type: "reject", message: "no" }] }],
  ["a schema", SCHEMA, ["approve"], true],
  ["a schema", SCHEMA, ["answer", "false"], false],
  ["a plain question", "?", ["answer", "--text", "5"], "5"],
  ["a plain question", "?", ["answer", "5"], 5],
  ["a plain question", "?", ["answer", "-"], { from: ["stdin"] }],
];

test("every dialect is answered in its own shape, and values keep their types (cli-inbox.2)", async () => {
  await Promise.all(
    ANSWERS.map(async ([name, asked, [verb = "", ...rest], gets]) => {
      const item = await asking(asked);
      const said = await run(["inbox", verb, place(item), ...rest, "--wait"], {}, { input: '{"from":["stdin"]}' });
      const what = `${verb} ${rest.join(" ")} to ${name}: ${said.out}${said.err}`;
      assert.deepEqual([said.code, said.err], [0, ""], what);
      assert.match(said.out, /answered {2}[0-9a-f]{8} .*→ now idle\n$/, what);
      assert.deepEqual(await answerOn(item), gets, what);
    }),
  );
});

const REFUSED: readonly (readonly [
  name: string,
  asked: unknown,
  args: readonly string[],
  code: number,
  says: RegExp,
])[] = [
  ["a plain question", "?", ["approve"], 1, /does not allow "approve", only respond$/],
  ["a plain question", "?", ["answer", "hello"], 2, /is not JSON; for plain text use --text$/],
  ["a plain question", "?", ["answer"], 2, /missing answer/],
  ["a plain question", "?", ["answer", "@/no/such/file"], 2, /cannot read \/no\/such\/file$/],
  ["an action", SNAKE, ["edit"], 2, /nothing to change/],
  ["an action", SNAKE, ["edit", "--set", "amount=much"], 2, /of type number/],
  [
    "two actions",
    { action_requests: [action, action] },
    ["edit", ...SET, "--action", "1"],
    2,
    /the item has 2 actions: .*--others$/,
  ],
  [
    "an action that takes no edit",
    [{ ...HUMAN[0], config: { allow_accept: true } }],
    ["edit", ...SET],
    1,
    /does not allow "edit"/,
  ],
];

test("an invalid answer is a one-line error with its exit code, and sends nothing (cli-inbox.3)", async () => {
  await Promise.all(
    REFUSED.map(async ([name, asked, [verb = "", ...rest], code, says]) => {
      const item = await asking(asked);
      const said = await run(["inbox", verb, place(item), ...rest]);
      assert.equal(said.code, code, `${name}: ${said.err}`);
      assert.match(said.err.trimEnd(), says);
      assert.match(said.err, /^holdpoint: [^\n]+\n$/);
      assert.equal(await answerOn(item), undefined, name);
    }),
  );
});

test("a process answers from its input, and exits with the code of the outcome (cli-inbox.2, cli-inbox.3)", async () => {
  const item = await asking("?");
  const command = ["inbox", "answer", place(item), "-", "--wait"];
  const said = await run(command, {}, { input: '{"from":["stdin"]}', how: holdpoint });
  assert.deepEqual([said.code, said.err], [0, ""], said.out);
  assert.deepEqual(await answerOn(item), { from: ["stdin"] });
  const again = await run(["inbox", "approve", place(item)], {}, { how: holdpoint });
  assert.equal(again.code, 1, again.out + again.err);
  const misspelt = await run(["inbox", "look"], {}, { how: holdpoint });
  assert.deepEqual([misspelt.code, misspelt.out], [2, ""]);
});

test("one of two actions is edited, and the output has the outcome of the other (cli-inbox.2)", async () => {
  const item = await asking({ action_requests: [action, { ...action, name: "log" }] });
  const said = await run([
    "inbox",
    "edit",
    item.id.slice(0, 10),
    ...SET,
    "--action",
    "2",
    "--others",
    "reject",
    "--wait",
  ]);
  assert.equal(said.out.split("\n").slice(0, 2).join(), "amount: 12.5 → 7,urgent: false → true");
  const decisions = [{ type: "reject" }, { type: "edit", edited_action: { name: "log", args: edited } }];
  assert.deepEqual(await answerOn(item), { decisions });
});

test("one call answers several; a rejection appears next to the successes (cli-inbox.3)", async () => {
  const [one, two] = [await asking(SNAKE), await asking(CAMEL)];
  assert.equal((await run(["inbox", "approve", place(one)])).code, 0);
  const said = await run(["inbox", "approve", place(one), place(two), "--json"]);
  const results = lines(said.out) as readonly {
    readonly interrupt_id: string;
    readonly status: string;
    readonly problem?: { readonly code: string };
  }[];
  assert.deepEqual(
    results.map(({ interrupt_id: id, status, problem }) => [id, status, problem?.code]),
    [
      [one.id, "refused", results[0]?.problem?.code],
      [two.id, "answered", undefined],
    ],
  );
  assert.equal(said.code, 1);
  const again = await run(["inbox", "approve", place(one)]);
  assert.match(again.out, /^refused .*: answered by ann at 20/);
});

test("a late answer by a short id learns who answered, and when (cli-inbox.3)", async () => {
  const item = await asking("Which?");
  assert.equal((await run(["inbox", "answer", place(item), "1"])).code, 0);
  for (const word of [item.id.slice(0, 12), `${item.thread_id.slice(0, 13)}/${item.id.slice(0, 8)}`]) {
    const late = await run(["inbox", "answer", word, "2"]);
    assert.deepEqual([late.code, /^refused .*: answered by ann at 20/.test(late.out)], [1, true], late.err);
  }
  const shown = await run(["inbox", "show", item.id.slice(0, 12)]);
  assert.match(shown.out, /^answered +by ann at 20\S+: 1$/m);
  const unknown = await run(["inbox", "answer", "0123456789ab", "1"]);
  assert.match(unknown.err, /no open item has an id starting with "0123456789ab": see holdpoint inbox ls/);
});

test("options of a server may come before the verb (cli-inbox.3)", async () => {
  for (const args of [
    ["--url", server.url, "inbox", "ls"],
    ["inbox", "--url", server.url, "ls"],
    ["--url", "http://127.0.0.1:1", "inbox", "ls", "--url", server.url],
  ])
    assert.deepEqual((await run(args, { HOLDPOINT_URL: "" })).err, "", args.join(" "));
  const refused = await run(["--url", server.url, "completion", "bash"], {}, { how: holdpoint });
  assert.deepEqual([refused.code, refused.err], [2, "holdpoint: completion has no option '--url'\n"]);
});

test("a breakpoint is passed by approval, and by nothing else (cli-inbox.2)", async () => {
  const body = { assistant_id: "steps", input: {}, interrupt_before: ["node_b"], on_completion: "keep" };
  await call(server, "POST", "/runs/wait", body, headers);
  const [item] = lines((await run(["inbox", "ls", "--kind", "breakpoint", "--json"])).out) as readonly WireItem[];
  assert.ok(item !== undefined);
  const refused = await run(["inbox", "answer", place(item), "1"]);
  assert.deepEqual([refused.code, /inbox approve continues it/.test(refused.err)], [1, true]);
  assert.equal((await run(["inbox", "approve", item.id, "--wait"])).code, 0);
});

test("the list is the API's own as JSON, and fits the window as a table (cli-inbox.1)", async () => {
  const long = await asking([
    { action_request: { action: "送金", args: {} }, description: `\u001b[31m${"long 🙂 ".repeat(40)}` },
  ]);
  const items = lines((await run(["inbox", "ls", "--json", "--thread", long.thread_id])).out) as readonly WireItem[];
  assert.deepEqual(items, [long]);
  const sizes = [30, 60, 100].map(async (columns) => ({
    columns,
    ...(await run(["inbox", "ls"], { COLUMNS: String(columns) })),
  }));
  for (const { columns, out } of await Promise.all(sizes)) {
    const { countWidth } = await import("../../packages/holdpoint/src/cli/output/sanitize.ts");
    for (const line of out.split("\n")) assert.ok(countWidth(line) <= columns, line);
    assert.match(out, new RegExp(`^ID .*\n[^]*${long.id.slice(0, 8)} `));
    assert.doesNotMatch(out, /\u001b/);
  }
  const [wide, shown] = await Promise.all([
    run(["inbox", "ls", "--wide"], { COLUMNS: "30" }),
    run(["inbox", "show", long.id]),
  ]);
  assert.ok(wide.out.includes(long.thread_id));
  assert.match(shown.out, /1\. 送金 {2}approve, edit, respond, ignore, reject/);
  assert.doesNotMatch(shown.out, /\u001b/);
});

test("a unique id prefix is enough (cli-inbox.3)", async () => {
  const item = await asking("?");
  const copied = await call(server, "POST", `/threads/${item.thread_id}/copy`, undefined, headers);
  const copy = (copied.body as { readonly thread_id: string }).thread_id;
  const both = await run(["inbox", "show", item.id]);
  assert.match(both.err, new RegExp(`is ambiguous: .*${copy}/${item.id}`));
  const link = `${server.url}/console/inbox/${copy}/${item.id}`;
  const one = await run(["inbox", "show", link, "--json"]);
  assert.equal((JSON.parse(one.out) as WireItem).thread_id, copy);
  const none = await run(["inbox", "show", "zz"]);
  assert.deepEqual([none.code, none.out], [1, ""]);
});

test("items are claimed, assigned, snoozed, commented on and released (cli-inbox.2, cli-inbox.3)", async () => {
  const item = await asking({ question: "?", review_rules: { assignees: ["ann", "bob"], approvals: 2 } });
  const done = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await run(["inbox", args[0] ?? "", place(item), ...args.slice(1)]);
    assert.equal(code, 0, err);
    return out;
  };
  assert.match(await done("claim"), /claimed by ann/);
  assert.match(await done("assign", "bob", "--force"), /assigned to bob/);
  assert.match(await done("release", "--force"), /released/);
  assert.match(await done("snooze", "2h"), /snoozed until 2/);
  assert.match(await done("snooze", "off"), /no follow-up date/);
  assert.match(await done("comment", "Called the customer."), /commented/);
  assert.match(await done("answer", "--text", "yes"), /counted .*1 of 2 approvals/);
  assert.match(await done("show"), /approvals +1 of 2[^]*votes +ann approves/);
  const refused = await run(["inbox", "assign", place(item), "zoe"]);
  assert.deepEqual([refused.code, refused.err.trim().split("\n").length], [1, 1]);
  const malformed = await run(["inbox", "snooze", place(item), "soon"]);
  assert.equal(malformed.code, 2);
});

test("a review shows items one after the other and sends what is typed, a dangerous one only by its name", async () => {
  const call = (action: string, more: object = {}): object => ({
    actionRequests: [{ name: action, args: ARGS, ...more }],
  });
  const marker = "reviewed-in-a-terminal";
  const items = [
    await asking({ ...call("pay"), marker }),
    await asking({ ...call("drop", { dangerous: true }), marker }),
    await asking({ ...call("mail", { description: "See ![it](data:image/png;base64,AAAA)" }), marker }),
    await asking({ question: "Why?", marker }),
    await asking({ ...call("skip"), marker }),
  ];
  await run(["inbox", "assign", place(await asking({ ...call("bobs"), marker })), "bob"]);
  const typed = [
    ["x", "e", "amount=5", "", "y"],
    ["a", "drep", "a", "drop"],
    ["r", "too late"],
    ["m", "", "m", "Because."],
    ["s"],
    ["a"],
  ].flat();
  const { code, out, err } = await run(["inbox", "review", "--search", marker], {}, { typed });
  assert.equal(code, 0, err);
  assert.equal(out.match(/^amount: .* → 5$/gm)?.length, 1, "changes are shown before they are sent, once");
  assert.match(out, /DANGEROUS/);
  assert.match(out, /^See !\[it\]\(\[image\]\)\n\nto: ann\namount: 12\.5\n/m, "as in messages");
  assert.match(out, /^refused /m);
  assert.match(out, /4 of 6 answered\./);
  assert.match(err, /Type one of a, e, r, s, q\./);
  assert.doesNotMatch(out, /inbox approve/);
  const wait = items.slice(0, 4).map(answerOn);
  assert.deepEqual(await Promise.all(wait), [
    { decisions: [{ type: "edit", editedAction: { name: "pay", args: { ...ARGS, amount: 5 } } }] },
    { decisions: [{ type: "approve" }] },
    { decisions: [{ type: "reject", message: "too late" }] },
    "Because.",
  ]);
  const ended = await run(["inbox", "review", "--search", marker], {}, { typed: ["e", "amount=6"] });
  assert.deepEqual([ended.code, /0 of 2 answered\./.test(ended.out)], [0, true], "Ctrl+D is the end of a review");
  const refused = await run(["inbox", "review"]);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /a review needs a terminal/);
});

test("the status of a server is three lines, or one JSON object", async () => {
  const { out, code } = await run(["status"]);
  assert.equal(code, 0);
  assert.match(
    out,
    /^server +http.*, version \d.*\ninbox +\d+ waiting, \d+ overdue\nthreads +\d+ busy, \d+ interrupted/,
  );
  const { items } = JSON.parse((await run(["status", "--json"])).out) as {
    readonly items: { readonly waiting: number };
  };
  assert.ok(items.waiting > 0);
});
