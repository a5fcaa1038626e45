// Tests of the pages before and after the first release: `deploy/publish-texts.ts` is the only switch between both.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findTexts, publishText } from "../../deploy/publish-texts.ts";
import { PUBLISHED } from "../../packages/holdpoint/src/main/published.ts";
import { ROOT } from "../harness/server.ts";

const TEXTS = findTexts().map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

/** What only works with the packages in the registry, and what only holds until then. */
const FROM_REGISTRY = /\bnpm (?:install|i) holdpoint\b|\bnpm (?:create|init) holdpoint|PUBLISHED: boolean = true/;
const UNTIL = /until the release|HOLDPOINT"|not published|packages are published|PUBLISHED: boolean = false/;

const found = (texts: typeof TEXTS, pattern: RegExp): readonly string[] =>
  texts.flatMap(({ path, text }) => (pattern.test(text) ? [path] : []));

test("the pages agree with the switch: none tells a way that does not work yet, or not any more", () => {
  assert.deepEqual(found(TEXTS, PUBLISHED ? UNTIL : FROM_REGISTRY), []);
  assert.ok(found(TEXTS, PUBLISHED ? FROM_REGISTRY : UNTIL).length >= 6);
});

test("turned to the registry, the same pages tell the other way, and turning again changes nothing", () => {
  const turned = TEXTS.map(({ path, text }) => ({ path, text: publishText(text) }));
  assert.deepEqual(found(turned, UNTIL), []);
  const pages = ["README.md", "first-approval.md", "first-trace.md", "embed.md", "ask-for-approval.md", "published.ts"];
  const telling = found(turned, FROM_REGISTRY);
  for (const page of pages)
    assert.ok(
      telling.some((path) => path.endsWith(page)),
      page,
    );
  for (const { path, text } of turned) assert.equal(publishText(text), text, path);
});
