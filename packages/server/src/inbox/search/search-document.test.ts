// Tests of search documents: search-document.1, search-document.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_TTL, newThread } from "../../threads/new-thread.ts";
import type { Interrupt } from "../../model/model.ts";
import type { AuditRecord } from "../../ports/ports.ts";
import { buildDocuments } from "./search-document.ts";

const thread = newThread("01a1feaf-26ec-72b5-ad65-85def8559567", { customer: "Müller" }, NO_TTL, 1);

const schema = {
  properties: { user: {}, pin: { writeOnly: true }, word: { format: "password" } },
};

function buildItem(changes: Partial<Interrupt>): Interrupt {
  const answer = { runId: "r", at: 1, by: "ann", value: { user: "robinson", pin: "hushhush", word: "sesame" } };
  return {
    threadId: thread.threadId,
    interruptId: "q",
    libraryId: "q",
    taskId: "t",
    graphNs: "",
    checkpointId: "c",
    rootCheckpointId: "c",
    index: 0,
    ns: [],
    position: 0,
    value: { question: "Your login?" },
    responseSchema: schema,
    state: "answered",
    createdAt: 1,
    runId: "r",
    graphId: "echo",
    assistantId: "a",
    node: "ask",
    kind: "form",
    claim: null,
    expiresAt: null,
    onExpiry: null,
    review: null,
    snoozedUntil: null,
    priority: 2,
    escalatesAt: null,
    failure: null,
    answer,
    ...changes,
  };
}

const said = { threadId: thread.threadId, at: 1, by: "bob", runId: null } as const;
const trail: readonly AuditRecord[] = [
  { ...said, seq: 1, action: "commented", interruptId: "q", value: "by telephone" },
  { ...said, seq: 2, action: "answered", interruptId: "q", value: { user: "robinson", pin: "hushhush" } },
  { ...said, seq: 3, action: "bypassed", interruptId: null, value: "skipped" },
];

const wordsIn = (item: Interrupt) => {
  const documents = buildDocuments({ thread, values: { note: "state" }, items: [item], trail });
  const [ofThread = assert.fail(), ofItem = assert.fail()] = documents;
  return { ofThread: ofThread.words, ofItem: ofItem.words };
};

test("an item has the words of its question, answer, trail and thread (search-document.1)", () => {
  const { ofThread, ofItem } = wordsIn(buildItem({}));
  for (const word of ["login", "ask", "echo", "robinson", "ann", "bob", "telephone", "muller", "state"]) {
    assert.ok(ofItem.includes(word), word);
  }
  for (const word of ["muller", "state", "skipped", "01a1feaf"]) assert.ok(ofThread.includes(word), word);
  for (const word of ["login", "telephone"]) assert.ok(!ofThread.includes(word), word);
});

test("secret members of an answer have no words, in the answer and in the trail (search-document.2)", () => {
  for (const secret of ["hushhush", "sesame"]) {
    assert.ok(!wordsIn(buildItem({})).ofItem.includes(secret));
    assert.ok(
      wordsIn(buildItem({ responseSchema: null })).ofItem.includes(secret),
      "without the schema it is no secret",
    );
  }
  assert.ok(!wordsIn(buildItem({ responseSchema: { writeOnly: true } })).ofItem.includes("robinson"));
});
