// Table tests of the conversion of log lines, each line on its own.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { convertLine, type Draft } from "./convert-line.ts";
import { NO_MESSAGES } from "./message-events.ts";

const RUN = "01a204d1-6017-72b9-ae01-9c6bea3e3d2e";
const PLACE = { runId: RUN, row: 3, index: 2, at: 8 };
const END = { run_id: RUN, status: "interrupted", ended_by: "pause", attempt: 2, at: 9, checkpoint_id: "c" };

const shown = (draft: Draft): string => {
  if (draft.kind === "state") return `state ${draft.checkpointId} ${draft.checkpoints.seq} ${draft.values.seq}`;
  if (draft.kind === "question") return `question ${draft.interruptId} ${draft.parts.id.slice(-6)}`;
  const { params } = JSON.parse(draft.event.text) as { readonly params: { readonly data: unknown } };
  return `${draft.event.method} ${draft.event.namespace.join("/")} ${JSON.stringify(params.data)}`;
};

const convert = (name: string, text: string | null, reference: string | null = null): readonly string[] =>
  convertLine(PLACE, { id: 7, name, text, reference }, NO_MESSAGES).drafts.map(shown);

suite("log line → protocol events", () => {
  const table: readonly (readonly [
    name: string,
    text: string | null,
    reference: string | null,
    ...expected: string[],
  ])[] = [
    [
      "metadata",
      `{"run_id":"${RUN}","attempt":2}`,
      null,
      `lifecycle  {"event":"running","run_id":"${RUN}","attempt":2}`,
    ],
    ["values", null, "checkpoint-1", `state checkpoint-1 ${3 * 65536 + 46} ${3 * 65536 + 47}`],
    ["values", '{"a":1}', null, 'values  {"a":1}'],
    ["values", null, "end"],
    ["values", '{"__interrupt__":[]}', null],
    ["values|child:1", '{"a":1}', null, 'values child:1 {"a":1}'],
    [
      "updates",
      '{"n":{"a":1},"m":2}',
      null,
      'updates  {"node":"n","values":{"a":1}}',
      'updates  {"node":"m","values":{"value":2}}',
    ],
    ["updates", '{"__interrupt__":[]}', null],
    ["custom", "5", null, 'custom  {"payload":5}'],
    ["custom", '{"name":"x","payload":5}', null, 'custom  {"name":"x","payload":5}'],
    ["messages", "[]", null],
    ["messages/partial", "[]", null],
    ["error", "{}", null],
    [
      "v3/tools",
      '{"namespace":["t:1"],"timestamp":1,"data":{"event":"tool-started"}}',
      null,
      'tools t:1 {"event":"tool-started"}',
    ],
    [
      "v3/values",
      '{"namespace":["a\\\\\\"]:1","b"],"timestamp":1,"node":"n","data":{"note":{"id":"x"}}}',
      null,
      'values a\\"]:1/b {"note":{"id":"x"}}',
    ],
  ];
  for (const [name, text, reference, ...expected] of table) {
    test(`${name} ${text ?? reference ?? ""}`, () => assert.deepEqual(convert(name, text, reference), expected));
  }

  test("the end: what it closed, what is open, the lifecycle; in this order and with rising numbers", () => {
    const text = JSON.stringify({ ...END, open: ["q1", "q2"], closed: ["q0"], no_values: true });
    const { drafts } = convertLine(PLACE, { id: 7, name: "end", text, reference: null }, NO_MESSAGES);
    const [state, closed, first, second, end] = drafts.map(shown);
    assert.match(state ?? "", /^state c /);
    assert.equal(closed, 'input.answered  {"interrupt_ids":["q0"],"how":"abandoned"}');
    assert.deepEqual([first, second], ["question q1 t:q1:2", "question q2 t:q2:2"]);
    assert.match(end ?? "", /"event":"interrupted".*"ended_by":"pause","checkpoint":\{"id":"c"\}/);
    const seqs = drafts.flatMap((draft) =>
      draft.kind === "state"
        ? [draft.checkpoints.seq, draft.values.seq]
        : [draft.kind === "event" ? draft.event.seq : draft.parts.seq],
    );
    assert.deepEqual(
      seqs,
      seqs.toSorted((one, other) => one - other),
    );
    assert.equal(new Set(seqs).size, seqs.length);
  });

  test("a breakpoint and a failure", () => {
    assert.match(convert("end", JSON.stringify(END))[0] ?? "", /"ended_by":"breakpoint"/);
    const failed = { ...END, ended_by: "failure", error: "Error: no" };
    assert.match(convert("end", JSON.stringify(failed))[0] ?? "", /"event":"failed".*"error":"Error: no"/);
  });
});
