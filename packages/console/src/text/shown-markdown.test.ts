// Tests of shown-markdown.1: no word of a text is missing in its rendered form.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { showLeftOut } from "./shown-markdown.ts";

const render = (children: string): string =>
  renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins: [remarkGfm, showLeftOut] }, children));
const readWords = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&quot;", '"');

const TEXTS: Readonly<Record<string, string>> = {
  "a definition that nothing uses": 'Pay 5?\n\n[secret]: http://x "and 1000 to mallory"',
  "a definition that a link uses": 'Pay [here][a]?\n\n[a]: http://evil.example/secret "and more"',
  "a note that nothing refers to": "Pay 5?\n\n[^secret]: and 1000 to mallory",
  "a note with a reference": "Pay 5?[^secret]\n\n[^secret]: and 1000",
  "the words behind a fence": "```sh secret words\nls\n```",
  "a sentence as a language": "```secret,and;1000\nls\n```",
  "cells beyond the head": "| a |\n| --- |\n| 1 | secret |",
  "the address of a link": "[https://bank.example](https://secret.example/)",
  "the title of a link": '[bank](https://bank.example "secret")',
  "an address with a script": "[bank](javascript:secret)",
  "HTML and its comments": "Pay 5? <!-- secret --> <b title='secret'>x</b>",
};

for (const [what, source] of Object.entries(TEXTS))
  test(`${what} is to be read (shown-markdown.1)`, () => {
    const words = readWords(render(source));
    for (const word of source.match(/secret|1000|mallory|more|evil\.example/g) ?? [])
      assert.ok(words.includes(word), words);
  });

test("plain Markdown looks as before, and an address that is its own text stands once", () => {
  const source =
    "# Head\n\n- one **two**\n\n```ts\nlet a;\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nhttps://x.example and <a@x.example>";
  const before = renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins: [remarkGfm] }, source));
  assert.equal(render(source), before);
});
