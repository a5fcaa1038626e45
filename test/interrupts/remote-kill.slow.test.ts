// Test of an answer to a question of a RemoteGraph across a kill of the server that passes it on.
// Rules:
//   interrupts/remote-kill.1. The other server gets it once, whether its run has ended meanwhile or not.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder, ROOT, startServer, temporaryFolder } from "../harness/server.ts";
import { newNotes, newThread, onlyQuestion, openThread } from "../harness/threads.ts";

const graphs = (name: string): string => join(ROOT, "test", "graphs", "remote", name);
const there = await startServerHere({ config: graphs("there.json") });
const env = { REMOTE_URL: there.url };
let here = await startServer({ config: graphs("here.json"), env });
const folder = temporaryFolder();
after(async () => {
  await here.stop();
  await there.stop();
  for (const path of [here.dataDir, there.dataDir, folder]) removeFolder(path);
});

/** @param isOver: there its run ends before this server starts again */
async function begin(isOver: boolean) {
  const thread = await newThread(here, "gated");
  const notes = newNotes(folder);
  const { id } = onlyQuestion(await thread.run({ input: { notes: notes.notes } }));
  await thread.begin({ command: { resume: { [id]: "yes" } } });
  return { thread, notes, isOver };
}

test(
  "an answer is sent once, also if this server is killed in between (interrupts/remote-kill.1)",
  PATIENCE,
  async () => {
    const threads = [await begin(false), await begin(true)];
    for (const { notes } of threads) await notes.reached('there <- "yes"');
    await here.kill();
    for (const { thread, notes, isOver } of threads) {
      if (!isOver) continue;
      writeFileSync(`${notes.notes}.go`, "");
      await openThread(there, "gated", thread.threadId).reaches("idle");
    }
    here = await startServer({ config: graphs("here.json"), env, dataDir: here.dataDir });
    for (const { thread, notes } of threads) {
      const again = openThread(here, "gated", thread.threadId);
      writeFileSync(`${notes.notes}.go`, "");
      await again.reaches("idle");
      assert.deepEqual((await again.state()).values["log"], ['there <- "yes"', "after"]);
      assert.deepEqual(notes.lines(), ["begun", 'there <- "yes"', "after"]);
    }
  },
);
