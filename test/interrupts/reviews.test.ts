// Tests of review rules over HTTP, on every way to an answer.
//   reviews.1. Assignees, exclusions and four eyes hold in the inbox and for direct resumes.
//   reviews.2. Votes are stored before the reply and start one run, with the answer that the people agree on.
//   reviews.3. The audit trail has every vote, and the item shows them.
//   reviews.4. Assignments, follow-up dates and comments of an item; an assignment never widens the rules.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { readProblem } from "../harness/threads.ts";
import {
  askUnder,
  post,
  read,
  resume,
  REVIEW_GRAPHS,
  readTrail,
  vote,
  type Question,
} from "../harness/reviews/questions.ts";
import { removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";

const server = await startServerHere({ config: REVIEW_GRAPHS });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

interface WireReview {
  readonly approvals: { readonly given: number; readonly needed: number };
  readonly rejections: { readonly given: number; readonly needed: number };
  readonly excluded: readonly string[];
  readonly votes: readonly { readonly by: string; readonly verdict: string; readonly value?: unknown }[];
}

async function readReview({ path }: Question): Promise<WireReview> {
  const { body }: { readonly body: { readonly review: WireReview } } = await read(server, path);
  return body.review;
}

const readCode = ({ problem }: { readonly problem?: { readonly code: string } }) => problem?.code;

suite("who may answer (reviews.1)", () => {
  const cases: readonly [string, unknown, string, string | undefined][] = [
    ["an assignee by name", { assignees: ["ann"] }, "ann", undefined],
    ["an assignee by group", { assignees: ["group:finance"] }, "ann:sales+finance", undefined],
    ["an assignee by e-mail address", { assignees: ["ann@example.com"] }, "ann", undefined],
    ["somebody else", { assignees: ["ann", "group:finance"] }, "bob:sales", "reviewer_not_assigned"],
    ["an excluded assignee", { assignees: ["group:finance"], exclude: ["ann"] }, "ann:finance", "reviewer_excluded"],
    ["the starter", { four_eyes: true }, "starter", "reviewer_excluded"],
    ["another person than the starter", { four_eyes: true }, "ann", undefined],
    ["anybody, under malformed rules", { aprovals: 2 }, "ann", "review_rules_invalid"],
  ];
  for (const [name, rules, who, code] of cases) {
    test(`${name}: ${code ?? "answers"}`, async () => {
      const asked = await askUnder(server, rules);
      if (code !== undefined) {
        const direct = await resume(server, who, asked, true);
        assert.equal(readProblem(direct).code, code);
        const named = await resume(server, who, asked, { [asked.interrupt_id]: true });
        assert.equal(readProblem(named).code, code);
        const command = {
          id: 1,
          method: "input.respond",
          params: { interrupt_id: asked.interrupt_id, response: true },
        };
        const { body } = await post(server, who, `/threads/${asked.thread_id}/commands`, command);
        assert.equal((body as { readonly code?: string }).code, code);
      }
      assert.equal(readCode(await vote(server, who, asked, true)), code);
    });
  }

  test("four eyes exclude whoever edited the state, too, and not whoever only answered", async () => {
    const { body: thread } = await post(server, "ann", "/threads", {});
    const path = `/threads/${String(thread["thread_id"])}`;
    const rules = { four_eyes: true };
    const payload = { question: "?", review_rules: rules };
    await post(server, "ann", `${path}/runs/wait`, { assistant_id: "echo", input: { payload } });
    const update = { update: { payload: { ...payload, question: "changed" } } };
    const again = await post(server, "bob", `${path}/runs/wait`, { assistant_id: "echo", command: update });
    const [interrupt] = again.body["__interrupt__"] as readonly { readonly id: string }[];
    const { body: item } = await read(server, `/inbox/${String(thread["thread_id"])}/${String(interrupt?.id)}`);
    assert.deepEqual((item["review"] as WireReview).excluded, ["ann", "bob"]);
  });
});

suite("how many must agree (reviews.2)", () => {
  test("two people approve: the first vote is counted, the second answers, once", async () => {
    const asked = await askUnder(server, { approvals: 2 });
    const first = await vote(server, "ann", asked, { approved: true, eur: 10 });
    assert.deepEqual([first.status, readCode(first), first.run_id], ["pending", "approvals_pending", undefined]);
    const repeated = await resume(server, "ann", asked, { approved: true, eur: 10 });
    assert.deepEqual([repeated.status, readProblem(repeated).code], [409, "approvals_pending"]);
    const review = await readReview(asked);
    assert.deepEqual([review.approvals, review.votes.map(({ by }) => by)], [{ given: 1, needed: 2 }, ["ann"]]);
    const second = await resume(server, "bob", asked, { eur: 10, approved: true });
    assert.deepEqual([second.status, second.body["answer"]], [200, [{ eur: 10, approved: true }]]);
    const late = await vote(server, "carl", asked, { approved: true, eur: 10 });
    assert.deepEqual([late.status, readCode(late)], ["refused", "interrupt_stale"]);
    assert.deepEqual(await readTrail(server, asked), [
      ["voted", "ann"],
      ["answered", "bob"],
    ]); // reviews.3
    const after = await readReview(asked);
    assert.deepEqual(
      after.votes.map(({ by, verdict }) => [by, verdict]),
      [
        ["ann", "approve"],
        ["bob", "approve"],
      ],
    );
  });

  test("one rejection ends it", async () => {
    const asked = await askUnder(server, { approvals: 3 });
    await vote(server, "ann", asked, true);
    const rejected = await resume(server, "bob", asked, false);
    assert.deepEqual(rejected.body["answer"], [false]);
  });

  test("answers that differ do not add up", async () => {
    const asked = await askUnder(server, { approvals: 2 });
    for (const [who, eur] of [
      ["ann", 1],
      ["bob", 2],
    ] as const) {
      assert.equal((await vote(server, who, asked, { eur })).status, "pending");
    }
    assert.equal((await vote(server, "carl", asked, { eur: 2 })).status, "answered");
  });

  test("a call with several answers runs with those that decide, and counts the others", async () => {
    const { body: thread } = await post(server, "starter", "/threads", {});
    const threadId = String(thread["thread_id"]);
    const asked = await post(server, "starter", `/threads/${threadId}/runs/wait`, { assistant_id: "pair", input: {} });
    const interrupts = asked.body["__interrupt__"] as readonly {
      readonly id: string;
      readonly value: { ask: string };
    }[];
    const findQuestionId = (name: string): string => interrupts.find(({ value }) => value.ask === name)?.id ?? "";
    const answers = ["pay", "mail"].map((name) => ({
      thread_id: threadId,
      interrupt_id: findQuestionId(name),
      resume: name,
    }));
    const { body } = await post(server, "ann", "/inbox/answers", answers);
    const results = body["results"] as readonly { readonly status: string; readonly run_id?: string }[];
    assert.deepEqual(
      results.map(({ status }) => status),
      ["pending", "answered"],
    );
    await read(server, `/threads/${threadId}/runs/${String(results[1]?.run_id)}/join`);
    const open = {
      thread_id: threadId,
      interrupt_id: findQuestionId("pay"),
      path: `/inbox/${threadId}/${findQuestionId("pay")}`,
    };
    assert.equal((await readReview(open)).approvals.given, 1, "the vote survives the run of its sibling");
    const done = await post(server, "bob", `/threads/${threadId}/runs/wait`, {
      assistant_id: "pair",
      command: { resume: { [open.interrupt_id]: "pay" } },
    });
    assert.deepEqual([done.body["paid"], done.body["mailed"]], ["pay", "mail"]);
  });

  test("a vote has no update", async () => {
    const asked = await askUnder(server, { approvals: 2 });
    const command = { resume: true, update: { payload: "x" } };
    const refused = await post(server, "ann", `/threads/${asked.thread_id}/runs/wait`, {
      assistant_id: "echo",
      command,
    });
    assert.deepEqual([refused.status, readProblem(refused).code], [422, "invalid_request"]);
    assert.deepEqual((await readReview(asked)).votes, []);
  });

  test("200 votes at once start one run", async () => {
    const asked = await askUnder(server, { approvals: 20 });
    const people = Array.from({ length: 40 }, (_, at) => `p${at}`);
    const votes = Array.from({ length: 200 }, (_, at) => vote(server, people[at % 40] ?? "", asked, true));
    const results = await Promise.all(votes);
    assert.equal(results.filter(({ status }) => status === "answered").length, 1);
    const trail = await readTrail(server, asked);
    assert.equal(trail.filter(([action]) => action === "answered").length, 1);
    const { body: runs } = await read(server, `/threads/${asked.thread_id}/runs`);
    assert.equal((runs as unknown as readonly unknown[]).length, 2);
    const { votes: counted } = await readReview(asked);
    assert.equal(new Set(counted.map(({ by }) => by)).size, 20);
  });
});

suite("the work on an item (reviews.4)", () => {
  test("an assignment keeps others out of the inbox, and stays within the rules", async () => {
    const asked = await askUnder(server, { assignees: ["bob", "carl"] });
    const refused = await post(server, "ann", `${asked.path}/assign`, { to: "dora" });
    assert.deepEqual([refused.status, readProblem(refused).code], [403, "reviewer_not_assigned"]);
    const { body: item } = await post(server, "ann", `${asked.path}/assign`, { to: "bob" });
    const { at: _at, ...claim } = item["claim"] as Record<string, unknown>;
    assert.deepEqual(claim, { by: "bob", until: null, assigned_by: "ann" });
    assert.equal(readCode(await vote(server, "carl", asked, true)), "interrupt_claimed");
    assert.equal(
      readProblem(await post(server, "carl", `${asked.path}/assign`, { to: "carl" })).code,
      "interrupt_claimed",
    );
    assert.equal((await post(server, "carl", `${asked.path}/assign`, { to: "carl", force: true })).status, 200);
    assert.equal(readProblem(await post(server, "ann", `${asked.path}/claim`, {})).code, "interrupt_claimed");
    assert.equal((await vote(server, "carl", asked, true)).status, "answered");
    assert.deepEqual(await readTrail(server, asked), [
      ["assigned", "ann"],
      ["assigned", "carl"],
      ["answered", "carl"],
    ]);
  });

  test("whoever the rules exclude cannot claim", async () => {
    const asked = await askUnder(server, { four_eyes: true });
    assert.equal(readProblem(await post(server, "starter", `${asked.path}/claim`, {})).code, "reviewer_excluded");
  });

  test("a follow-up date hides the item from lists that ask for it, and can be cleared", async () => {
    const asked = await askUnder(server, undefined);
    const listed = async (snoozed: string): Promise<number> => {
      const { body } = await read(server, `/inbox?thread_id=${asked.thread_id}&snoozed=${snoozed}`);
      return (body["items"] as readonly unknown[]).length;
    };
    const { body: item } = await post(server, "ann", `${asked.path}/snooze`, { for_seconds: 3600 });
    assert.ok(Date.parse(String(item["snoozed_until"])) > Date.now());
    assert.deepEqual([await listed("true"), await listed("false")], [1, 0]);
    await post(server, "ann", `${asked.path}/snooze`, { until: null });
    assert.deepEqual([await listed("true"), await listed("false")], [0, 1]);
    for (const body of [{}, { until: "tomorrow" }, { until: null, for_seconds: 1 }]) {
      assert.equal((await post(server, "ann", `${asked.path}/snooze`, body)).status, 422);
    }
  });

  test("comments stay with the audit trail, and can follow the answer", async () => {
    const asked = await askUnder(server, undefined);
    await post(server, "ann", `${asked.path}/comments`, { text: "Called the customer." });
    await vote(server, "bob", asked, true);
    await post(server, "bob", `${asked.path}/comments`, { text: "Paid." });
    const { body } = await read(server, `${asked.path}/comments`);
    const comments = body["items"] as readonly { readonly by: string; readonly value: string }[];
    assert.deepEqual(
      comments.map(({ by, value }) => [by, value]),
      [
        ["ann", "Called the customer."],
        ["bob", "Paid."],
      ],
    );
    const { body: page } = await read(server, `${asked.path}/comments?limit=1`);
    const { body: rest } = await read(server, `${asked.path}/comments?after=${String(page["next_after"])}`);
    assert.equal((rest["items"] as readonly unknown[]).length, 1);
    assert.equal((await post(server, "ann", `${asked.path}/comments`, { text: " " })).status, 422);
  });
});

test("rules in an assistant's metadata need the right to administrate, and hold for its runs", async () => {
  const assistant = { graph_id: "echo", metadata: { interrupt_review: { assignees: ["ann"] } } };
  assert.equal((await post(server, "ann", "/assistants", assistant)).status, 403);
  const made = await post(server, "root", "/assistants", assistant);
  assert.equal(made.status, 200, made.text);
  const malformed = { graph_id: "echo", metadata: { interrupt_review: { assignes: ["ann"] } } };
  assert.equal((await post(server, "root", "/assistants", malformed)).status, 422);
  const asked = await askUnder(server, { approvals: 2 }, "starter", { assistant_id: made.body["assistant_id"] });
  assert.equal(readCode(await vote(server, "bob", asked, true)), "reviewer_not_assigned");
  assert.equal((await vote(server, "ann", asked, true)).status, "pending");
});
