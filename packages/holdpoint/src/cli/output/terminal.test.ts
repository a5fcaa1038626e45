// Tests of a terminal's prompt: a reply, Ctrl+D and Ctrl+C, on streams that say that they are terminals.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { createTerminal } from "./terminal.ts";

test("a prompt takes a line; Ctrl+D is no reply, and Ctrl+C ends the process with 130", async () => {
  const tty = (): PassThrough & { isTTY: true } => Object.assign(new PassThrough(), { isTTY: true as const });
  const stdin = tty();
  const ended: number[] = [];
  const { ask } = createTerminal({ stdin, stdout: tty(), stderr: tty() }, {}, (code) => void ended.push(code));
  assert.ok(ask !== null);
  const type = async (keys: string): Promise<string> => {
    const reply = ask("Sure? ");
    stdin.write(keys);
    return reply;
  };
  assert.equal(await type("y\r"), "y");
  await assert.rejects(type("\u0004"), { message: "cancelled: nothing changed", exitCode: 1 });
  assert.deepEqual(ended, []);
  void type("\u0003").catch(() => undefined);
  while (ended.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ended, [130]);
});
