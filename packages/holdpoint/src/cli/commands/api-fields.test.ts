// Test of the fields of `holdpoint api`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFields } from "./api-fields.ts";

const read = (file: string): Promise<string> =>
  file === "none" ? Promise.reject(new Error("cannot read none")) : Promise.resolve(`content of ${file}`);
const typed = (...texts: readonly string[]) =>
  readFields(
    texts.map((text) => ({ text, typed: true })),
    read,
  );
const raw = (...texts: readonly string[]) =>
  readFields(
    texts.map((text) => ({ text, typed: false })),
    read,
  );

const READ: readonly (readonly [fields: readonly string[], members: object])[] = [
  [["a=1", "b=-0.5", "c=true", "d=false", "e=null"], { a: 1, b: -0.5, c: true, d: false, e: null }],
  [["a=01", "b=1x", "c=True", "d=", "e=x=y"], { a: "01", b: "1x", c: "True", d: "", e: "x=y" }],
  [["a=1e400"], { a: "1e400" }],
  [["a=@file.txt", "b=@-"], { a: "content of file.txt", b: "content of -" }],
  [["a[b]=1", "a[c][d]=x"], { a: { b: 1, c: { d: "x" } } }],
  [["a[]=1", "a[]=2"], { a: [1, 2] }],
  [["a[]"], { a: [] }],
  [["a[b][]=x"], { a: { b: ["x"] } }],
  [["a[][b]=1", "a[][c]=2", "a[][b]=3"], { a: [{ b: 1, c: 2 }, { b: 3 }] }],
  [["constructor=1", "toString[x]=1"], { constructor: 1, toString: { x: 1 } }],
];
for (const [fields, members] of READ) {
  test(`${fields.join(" ")} → ${JSON.stringify(members)} (api-fields.1, api-fields.2)`, async () => {
    assert.deepEqual(await typed(...fields), members);
  });
}

test("a raw field is text, whatever it looks like (api-fields.1)", async () => {
  assert.deepEqual(await raw("a=1", "b[c]=true", "d=@file"), { a: "1", b: { c: "true" }, d: "@file" });
});

for (const fields of [["a"], ["=1"], ["a[b=1"], ["a]=1"], ["__proto__[x]=1"], ["a[__proto__]=1"]]) {
  test(`${fields.join(" ")} is a usage error`, async () => {
    await assert.rejects(typed(...fields), { exitCode: 2 });
  });
}

for (const fields of [
  ["a=1", "a=2"],
  ["a=1", "a[b]=2"],
  ["a=1", "a[]=2"],
  ["a[]=1", "a[b]=2"],
  ["a[b]=1", "a[]=2"],
  ["a[b]=1", "a[b][c]=2"],
]) {
  test(`${fields.join(" ")} contradict each other (api-fields.3)`, async () => {
    await assert.rejects(typed(...fields), { exitCode: 2 });
  });
}
