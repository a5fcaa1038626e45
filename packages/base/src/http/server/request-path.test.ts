// Tests of request paths: request-path.1, a path has one reading; request-path.2, the mount prefix.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../api-error.ts";
import { parseAddress, createFinder } from "./request-path.ts";

const finder = createFinder([
  { method: "get", path: "/things/{thing_id}" },
  { method: "post", path: "/things" },
  { method: "get", path: "/things/{thing_id}/parts/{name}" },
]);

const READ: readonly (readonly [path: string, params: Record<string, string>])[] = [
  ["/things/a", { thing_id: "a" }],
  ["/things/a%20b", { thing_id: "a b" }],
  ["/things/%C3%A4", { thing_id: "ä" }],
  ["/things/a%7Cb", { thing_id: "a|b" }],
  ["/things/a%3Ab", { thing_id: "a:b" }],
  ["/things/...", { thing_id: "..." }],
  ["/things/.a", { thing_id: ".a" }],
  ["/things/a/parts/b%25c", { thing_id: "a", name: "b%c" }],
];

for (const [path, params] of READ) {
  test(`${path} matches with ${JSON.stringify(params)} (request-path.1)`, () => {
    assert.deepEqual(finder.find("GET", path).params, params);
  });
}

const UNRESERVED = "ABZabz019-._~";
const NOWHERE = [
  ...UNRESERVED.split("").map((letter) => `/things/x%${letter.charCodeAt(0).toString(16)}`),
  "/things/a%2Fb",
  "/things/a%2fparts%2fb",
  "/things/a%5Cb",
  "/things/a\\b",
  "/things/%00",
  "/things/a%",
  "/things/a%4",
  "/things/a%zz",
  "/things/%ff",
  "/things/%c0%af",
  "/things/%ed%a0%80",
  "/things/..",
  "/things/.",
  "/things/a/../b",
  "/things/./a",
  "/things/a b",
  "/things/ä",
  "/things/a\u0000",
  `/things/${"a".repeat(5000)}`,
  "things/a",
  "",
];

for (const path of NOWHERE) {
  test(`${JSON.stringify(path).slice(0, 40)} matches no route (request-path.1)`, () => {
    assert.throws(
      () => finder.find("GET", path),
      (error) => error instanceof ApiError && error.code === "not_found",
    );
    assert.equal(finder.knows(path), false);
  });
}

test("405 lists the allowed methods of the path", () => {
  assert.throws(
    () => finder.find("DELETE", "/things"),
    (error) => error instanceof ApiError && error.code === "method_not_allowed" && error.headers["Allow"] === "POST",
  );
  assert.equal(finder.find("HEAD", "/things/a").route.method, "get");
});

const PREFIXED: readonly (readonly [target: string, path: string | null])[] = [
  ["/api/things", "/things"],
  ["/api/things?x=/api", "/things"],
  ["/api", "/"],
  ["/api/", "/"],
  ["/api/api/things", "/things"], // a Location of ours behind a base URL that has the prefix too
  ["/api/api/api/things", "/api/things"],
  ["/things", null],
  ["/apithings", null],
  ["/API/things", null],
  ["/%61pi/things", null],
];

for (const [target, path] of PREFIXED) {
  test(`below /api, ${target} is ${path ?? "not ours"} (request-path.2)`, () => {
    assert.equal(parseAddress(target, "/api")?.path ?? null, path);
  });
}

test("the query is parsed, and its text stays unchanged", () => {
  assert.deepEqual(parseAddress("/a?x=1&y=%20&x=2", ""), {
    path: "/a",
    search: "?x=1&y=%20&x=2",
    query: { x: "1,2", y: " " },
  });
  assert.deepEqual(parseAddress("/a", ""), { path: "/a", search: "", query: {} });
});
