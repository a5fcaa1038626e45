// Tests of the errors: api-error.2 (the code alone decides the status), a sound table, and a description of any thrown
// value.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, describeError, ERROR_CODES, type ErrorCode } from "./api-error.ts";

for (const [code, [status, title]] of Object.entries(ERROR_CODES)) {
  test(`code ${code} has a usable name, status and title (api-error.2)`, () => {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/);
    assert.ok(status >= 400 && status <= 599);
    assert.match(title, /^\S.*[^.\s]$/);
    const error = new ApiError(code as ErrorCode, "what happened", { pending: [] }, { "Retry-After": "1" });
    assert.equal(error.status, status);
    assert.equal(error.message, "what happened");
    assert.deepEqual(error.extra, { pending: [] });
    assert.deepEqual(error.headers, { "Retry-After": "1" });
  });
}

test("no two codes share a title", () => {
  const titles = Object.values(ERROR_CODES).map(([, title]) => title);
  assert.equal(new Set(titles).size, titles.length);
});

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;
const nameless = new Error("no name");
nameless.name = "";
const THROWN: readonly { readonly name: string; readonly thrown: unknown; readonly says: readonly [string, string] }[] =
  [
    { name: "an error", thrown: new TypeError("bad"), says: ["TypeError", "bad"] },
    { name: "an error without a name", thrown: nameless, says: ["Error", "no name"] },
    { name: "a text", thrown: "bad", says: ["Error", "bad"] },
    { name: "undefined", thrown: undefined, says: ["Error", "undefined"] },
    { name: "null", thrown: null, says: ["Error", "null"] },
    { name: "an object", thrown: { a: 1 }, says: ["Error", '{"a":1}'] },
    { name: "a symbol", thrown: Symbol("s"), says: ["Error", "Symbol(s)"] },
    { name: "a big integer", thrown: 1n, says: ["Error", "thrown value cannot be displayed"] },
    { name: "a cycle", thrown: cyclic, says: ["Error", "thrown value cannot be displayed"] },
  ];

for (const { name, thrown, says } of THROWN) {
  test(`a thrown ${name} has a description`, () => {
    assert.deepEqual(describeError(thrown), { name: says[0], message: says[1] });
  });
}
