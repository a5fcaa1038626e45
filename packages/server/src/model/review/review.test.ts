// Tests of the review rules: sources (review-rules.1 to review-rules.3), reviewers (reviewers.1, reviewers.2), verdicts
// (verdict.1, verdict.2), votes (votes.1 to votes.3).
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Caller, Interrupt, Review } from "../model.ts";
import { assistantRulesFault, buildReview } from "./review-rules.ts";
import { reviewRefusal } from "./reviewers.ts";
import { formatProposal, toVerdict } from "./verdict.ts";
import { countVote, countVotes } from "./votes.ts";

const AT = 1_000_000;

function rules(schema: Json | undefined, assistant?: Json, payload?: Json, startedBy: readonly string[] = []) {
  return buildReview({
    value: payload === undefined ? { question: "?" } : { question: "?", review_rules: payload },
    responseSchema: schema === undefined ? null : { "x-holdpoint-review": schema },
    assistant: assistant === undefined ? {} : { interrupt_review: assistant },
    startedBy,
    at: AT,
  });
}

function interrupt(review: Review | null, value: Json = "?", responseSchema: JsonObject | null = null): Interrupt {
  return { threadId: "t", interruptId: "i", claim: null, review, value, responseSchema } as Interrupt;
}

const person = (name: string, more: Partial<Caller> = {}): Caller => ({ name, user: null, permissions: [], ...more });

suite("sources of the rules", () => {
  test("without rules there is no review", () => assert.equal(rules(undefined), null));

  test("sources restrict each other: all lists, the highest counts, one source with four eyes (review-rules.1)", () => {
    const review = rules(
      { assignees: ["group:finance"], approvals: 2 },
      { approvals: 3, exclude: ["carl"] },
      { assignees: ["ann", "bob"], approvals: 1, rejections: 2, four_eyes: true },
      ["zoe"],
    );
    assert.deepEqual(review, {
      assignees: [["group:finance"], ["ann", "bob"]],
      approvals: 3,
      rejections: 2,
      fourEyes: true,
      excluded: ["carl", "zoe"],
      escalations: [],
      votes: [],
      fault: null,
    });
  });

  test("an escalation belongs to the list of its source, and the earliest comes first (review-rules.3)", () => {
    const later = { after_seconds: 60, assignees: ["cfo"] };
    const review = rules(
      { assignees: ["ann"], escalate: [later] },
      { escalate: [{ after_seconds: 10, assignees: ["duty"] }] },
      { assignees: ["bob"], escalate: [{ after_seconds: 30, assignees: ["lead"] }] },
    );
    assert.deepEqual(review?.escalations, [
      { at: AT + 10_000, assignees: ["duty"], list: null },
      { at: AT + 30_000, assignees: ["lead"], list: 1 },
      { at: AT + 60_000, assignees: ["cfo"], list: 0 },
    ]);
  });

  test("rules in any request of a list hold", () => {
    const value = [{ action_request: {} }, { action_request: {}, review_rules: { approvals: 2 } }];
    assert.equal(buildReview({ value, responseSchema: null, assistant: {}, startedBy: [], at: AT })?.approvals, 2);
  });

  for (const malformed of [
    { aprovals: 2 },
    { approvals: 0 },
    { assignees: [] },
    { assignees: "ann" },
    [],
    null,
    true,
  ]) {
    test(`malformed rules let nobody answer: ${JSON.stringify(malformed)} (review-rules.2)`, () => {
      const refusal = reviewRefusal(interrupt(rules(undefined, undefined, malformed)), person("ann"));
      assert.equal(refusal?.code, "review_rules_invalid");
      assert.notEqual(assistantRulesFault({ interrupt_review: malformed }), null);
    });
  }
});

suite("reviewers", () => {
  const finance = person("ann", { groups: ["finance"] });
  const mailed = person("bob", { user: { email: "Bob@Example.com" } });
  const cases: readonly [string, Json, Caller, string | undefined][] = [
    ["a name", { assignees: ["ann"] }, finance, undefined],
    ["another name", { assignees: ["Ann"] }, finance, "reviewer_not_assigned"],
    ["a group", { assignees: ["carl", "group:finance"] }, finance, undefined],
    ["a group as a name", { assignees: ["finance"] }, finance, "reviewer_not_assigned"],
    ["a name like a group", { assignees: ["group:ann"] }, person("group:ann"), "reviewer_not_assigned"],
    ["an e-mail address in another case", { assignees: ["bob@example.COM"] }, mailed, undefined],
    [
      "an exclusion over an assignment",
      { assignees: ["ann"], exclude: ["group:finance"] },
      finance,
      "reviewer_excluded",
    ],
    ["no assignees", { approvals: 2 }, mailed, undefined],
  ];
  for (const [name, given, caller, code] of cases) {
    test(`${name}: ${code ?? "may answer"} (reviewers.1, reviewers.2)`, () => {
      assert.equal(reviewRefusal(interrupt(rules(given)), caller)?.code, code);
    });
  }

  test("with four eyes, those who started the run may not answer", () => {
    const grouped = person("group:ann", { groups: [] });
    const own = rules({ four_eyes: true }, undefined, undefined, [grouped.name]);
    assert.equal(reviewRefusal(interrupt(own), grouped)?.code, "reviewer_excluded");
    const review = rules({ four_eyes: true }, undefined, undefined, ["ann"]);
    assert.equal(reviewRefusal(interrupt(review), finance)?.code, "reviewer_excluded");
    assert.equal(reviewRefusal(interrupt(review), mailed), null);
    assert.equal(reviewRefusal(interrupt(rules({ approvals: 2 }, undefined, undefined, ["ann"])), finance), null);
  });
});

const HITL: Json = {
  action_requests: [
    { name: "pay", args: {} },
    { name: "mail", args: {} },
  ],
};
const HUMAN: Json = [{ action_request: { action: "pay", args: { eur: 5 } } }];
const decisions = (...list: readonly Json[]): Json => ({ decisions: [...list] });

const APPROVE = { type: "approve" };
const REJECT = { type: "reject" };

suite("verdicts", () => {
  const cases: readonly [string, Json, Json, "approve" | "reject"][] = [
    ["all approved", HITL, decisions({ type: "approve" }, { type: "approve" }), "approve"],
    ["one rejected", HITL, decisions({ type: "approve" }, { type: "reject" }), "approve"],
    ["all rejected", HITL, decisions({ type: "reject" }, { type: "reject", message: "no" }), "reject"],
    ["rejected and responded", HITL, decisions({ type: "reject" }, { type: "respond", message: "m" }), "reject"],
    ["an edit", HITL, decisions({ type: "edit", edited_action: {} }, { type: "reject" }), "approve"],
    ["an unknown decision", HITL, decisions({ type: "sure" }), "approve"],
    ["no decisions", HITL, decisions(), "approve"],
    ["no object", HITL, "yes", "approve"],
    ["accept", HUMAN, [{ type: "accept", args: null }], "approve"],
    ["ignore", HUMAN, [{ type: "ignore", args: null }], "reject"],
    ["response", HUMAN, [{ type: "response", args: "not now" }], "reject"],
    ["true", "?", true, "approve"],
    ["false", "?", false, "reject"],
    ["not approved", "?", { approved: false }, "reject"],
    ["not approved, and more", "?", { approved: false, decision: "yes" }, "approve"],
    ["approved as a text", "?", { approved: "false" }, "approve"],
    ["not approved, inside", "?", { answer: { approved: false } }, "approve"],
    ["not approved, in a list", "?", [{ approved: false }], "approve"],
    ["rejected beside a position", HITL, { ...(decisions(REJECT, REJECT) as JsonObject), 0: APPROVE }, "approve"],
    ["rejected beside another member", HITL, decisions(REJECT, { ...REJECT, args: {} }), "approve"],
    ["fewer rejections than actions", HITL, decisions(REJECT), "approve"],
    ["more rejections than actions", HITL, decisions(REJECT, REJECT, REJECT), "approve"],
    ["rejections as a bare list", HITL, [REJECT, REJECT], "approve"],
    ["a rejection whose message is an object", HITL, decisions(REJECT, { ...REJECT, message: {} }), "approve"],
    ["ignore with arguments", HUMAN, [{ type: "ignore", args: { action: "pay", args: {} } }], "approve"],
    ["response that is an object", HUMAN, [{ type: "response", args: { action: "pay" } }], "approve"],
    ["ignore, bare", HUMAN, { type: "ignore", args: null }, "approve"],
    ["a rejection of another dialect", HUMAN, decisions({ type: "reject" }), "approve"],
    ["approved", "?", { approved: true }, "approve"],
    ["null", "?", null, "approve"],
    ["zero", "?", 0, "approve"],
    ["a text", "?", "reject", "approve"],
  ];
  for (const [name, value, answer, verdict] of cases) {
    test(`${name} is ${verdict} (verdict.1)`, () => {
      assert.equal(toVerdict({ value, responseSchema: null }, answer), verdict);
    });
  }

  const agreement: readonly [string, Json, Json, Json, boolean][] = [
    ["members in another order", "?", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
    ["another value", "?", { a: 1 }, { a: 2 }, false],
    ["items in another order", "?", [1, 2], [2, 1], false],
    [
      "messages of rejected parts",
      HITL,
      decisions({ type: "approve" }, { type: "reject", message: "a" }),
      decisions({ type: "approve" }, { type: "reject" }),
      false,
    ],
    [
      "other parts",
      HITL,
      decisions({ type: "approve" }, { type: "reject" }),
      decisions({ type: "reject" }, { type: "approve" }),
      false,
    ],
    [
      "accept with and without arguments",
      HUMAN,
      [{ type: "accept", args: null }],
      [{ type: "accept", args: { action: "pay", args: { eur: 5 } } }],
      true,
    ],
    [
      "accept with other arguments",
      HUMAN,
      [{ type: "accept", args: null }],
      [{ type: "accept", args: { action: "pay", args: { eur: 5000 } } }],
      false,
    ],
    [
      "accept with another action",
      HUMAN,
      [{ type: "accept", args: null }],
      [{ type: "accept", args: { action: "wipe", args: { eur: 5 } } }],
      false,
    ],
    ["accept with more", HUMAN, [{ type: "accept" }], [{ type: "accept", edited_action: { name: "wipe" } }], false],
    ["a number and its text", "?", { amount: 1 }, { amount: "1" }, false],
    ["composed and decomposed letters", "?", { name: "\u00e9" }, { name: "e\u0301" }, false],
    [
      "different edits",
      HUMAN,
      [{ type: "edit", args: { args: { eur: 4 } } }],
      [{ type: "edit", args: { args: { eur: 3 } } }],
      false,
    ],
    [
      "an edit and an approval",
      HUMAN,
      [{ type: "edit", args: { args: { eur: 5 } } }],
      [{ type: "accept", args: null }],
      false,
    ],
  ];
  for (const [name, value, one, other, agree] of agreement) {
    test(`${name}: ${agree ? "agree" : "differ"} (verdict.2)`, () => {
      const at = { value, responseSchema: null };
      assert.equal(formatProposal(at, one) === formatProposal(at, other), agree);
    });
  }
});

suite("votes", () => {
  type Step = readonly [by: string, value: Json, decided: boolean];
  const cases: readonly [string, Json, readonly Step[]][] = [
    ["without counts, the first answer decides", { assignees: ["ann"] }, [["ann", true, true]]],
    [
      "two people approve",
      { approvals: 2 },
      [
        ["ann", true, false],
        ["bob", true, true],
      ],
    ],
    [
      "one person has one vote",
      { approvals: 2 },
      [
        ["ann", true, false],
        ["ann", true, false],
        ["bob", true, true],
      ],
    ],
    [
      "one rejection ends it",
      { approvals: 3 },
      [
        ["ann", true, false],
        ["bob", false, true],
      ],
    ],
    [
      "a quorum of rejections",
      { approvals: 3, rejections: 2 },
      [
        ["ann", false, false],
        ["bob", true, false],
        ["carl", { approved: false }, true],
      ],
    ],
    [
      "answers that differ do not add up",
      { approvals: 2 },
      [
        ["ann", 10, false],
        ["bob", 20, false],
        ["carl", 20, true],
      ],
    ],
    [
      "a person changes the vote",
      { approvals: 2 },
      [
        ["ann", 10, false],
        ["bob", 20, false],
        ["ann", 20, true],
      ],
    ],
    [
      "a changed vote leaves its former count",
      { approvals: 2, rejections: 2 },
      [
        ["ann", false, false],
        ["ann", true, false],
        ["bob", false, false],
        ["carl", true, true],
      ],
    ],
  ];
  for (const [name, given, steps] of cases) {
    test(`${name} (votes.1, votes.2)`, () => {
      let item = interrupt(rules(given));
      for (const [by, value, decided] of steps) {
        const counted = countVote(item, value, person(by), AT);
        assert.equal(counted.decided, decided, `${by}: ${JSON.stringify(value)}`);
        item = counted.interrupt;
      }
    });
  }

  test("the tally counts the leading answer", () => {
    let item = interrupt(rules({ approvals: 3, rejections: 3 }));
    for (const [by, value] of [
      ["a", 1],
      ["b", 2],
      ["c", 2],
      ["d", false],
    ] as const) {
      item = countVote(item, value, person(by), AT).interrupt;
    }
    assert.deepEqual(countVotes(item), { approvals: 2, rejections: 1 });
  });

  test("votes are bounded, and a voter can still change the vote", () => {
    let item = interrupt(rules({ approvals: 20 }));
    for (let at = 0; at < 100; at++) item = countVote(item, at, person(`p${at}`), AT).interrupt;
    assert.throws(() => countVote(item, 1, person("late"), AT), { code: "too_many_votes" });
    assert.equal(countVote(item, 1, person("p7"), AT).interrupt.review?.votes.length, 100);
  });

  test("a vote ends the voter's claim, and no other", () => {
    const claimed = (by: string) => ({ ...interrupt(rules({ approvals: 2 })), claim: { by, at: AT, until: null } });
    assert.equal(countVote(claimed("ann"), true, person("ann"), AT).interrupt.claim, null);
    assert.equal(countVote(claimed("bob"), true, person("ann"), AT).interrupt.claim?.by, "bob");
  });
});
