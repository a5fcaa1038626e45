import assert from "node:assert/strict";
import { test } from "node:test";
import { createPersonalNames, type TextKind } from "./personal-names.ts";

const P = "erased-1";
const ANN = ["ann@example.com", "Ann Lee", "248289761001-subject"];

const ROWS: readonly (readonly [identifiers: readonly string[], kind: TextKind, text: string, replaced: string])[] = [
  [ANN, "record", "ann@example.com", P],
  [ANN, "record", '{"by":"ann@example.com","at":1.0}', `{"by":"${P}","at":1.0}`],
  [ANN, "content", '{"Ann@Example.com":[1e400]}', `{"${P}":[1e400]}`],
  [ANN, "content", "ask Ann Lee (ann@example.com).", `ask ${P} (${P}).`],
  [
    ANN,
    "content",
    "joann@example.com ann@example.com.au x.ann@example.com Ann Leeds",
    "joann@example.com ann@example.com.au x.ann@example.com Ann Leeds",
  ],
  [ANN, "content", "http://a/?u=ann%40example.com&x=1", `http://a/?u=${P}&x=1`],
  [
    ANN,
    "content",
    JSON.stringify({ body: JSON.stringify({ sub: ANN[2] }) }),
    JSON.stringify({ body: JSON.stringify({ sub: P }) }),
  ],
  [ANN, "content", '{"a":"Ann Lee"}\n{"b":1.0}\n', `{"a":"${P}"}\n{"b":1.0}\n`],
  [ANN, "content", '"hi\\nAnn Lee"', `"hi\\n${P}"`],
  [["ann"], "record", '["ann","group:ann","annual"]', `["${P}","group:ann","annual"]`],
  [
    ["ann"],
    "content",
    '{"name":"ann","claimed_by":"ann","assignees":["bob","ann"]}',
    `{"name":"ann","claimed_by":"${P}","assignees":["bob","${P}"]}`,
  ],
  [["ann"], "content", "ann and @ann, not @anna or x@ann", `ann and @${P}, not @anna or x@ann`],
  [
    ["ann"],
    "content",
    '{"startedBy":"ann","a":{"langgraph_auth_user_id":"ann"},"standby":"ann"}',
    `{"startedBy":"${P}","a":{"langgraph_auth_user_id":"${P}"},"standby":"ann"}`,
  ],
  // personal-names.4
  [
    ["admin"],
    "record",
    '{"name":"admin","role":"admin","permissions":["admin"],"role2":"x"}',
    `{"name":"${P}","role":"admin","permissions":["admin"],"role2":"x"}`,
  ],
  [["value"], "record", '{"value":"ann"}', '{"value":"ann"}'],
  [["billing"], "content", '{"graph_id":"billing"}', '{"graph_id":"billing"}'],
  [['a "b" c'], "content", '{"x":"by a \\"b\\" c"}', `{"x":"by ${P}"}`],
];

for (const [identifiers, kind, text, replaced] of ROWS)
  test(`names in ${kind} ${text} (personal-names.1, personal-names.2, personal-names.3)`, () => {
    const names = createPersonalNames(identifiers, P);
    assert.equal(names.replace(text, kind), replaced);
    assert.equal(names.names(text, kind), replaced !== text);
    assert.equal(names.replace(replaced, kind), replaced);
  });

test("memory is a person's by an address anywhere, by a word behind another label, and never by a displayed name", () => {
  const names = createPersonalNames(["ann", "ann@example.com", "u-1", "memories of"], P);
  const labels: readonly [string, number, boolean][] = [
    ["ann@example.com", 0, true],
    ["Ann@Example.com", 0, true],
    ["ann", 0, false],
    ["ann", 1, true],
    ["memories of", 1, false],
    ["bob", 1, false],
  ];
  for (const [text, at, expected] of labels) assert.equal(names.isLabel(text, at), expected, text);
  assert.deepEqual([names.isPerson("ann"), names.isPerson("u-1")], [true, false]);
});
