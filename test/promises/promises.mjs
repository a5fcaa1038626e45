// The promises: what a deployment that asks people needs of its server, each as plain requests. A promise throws
// `Broken` with the reason; the last request of the server shows it.
import { Broken, check, equal, Server, Thread } from "./http.mjs";

const accepted = ({ status }) => status < 300;
const given = ({ answers = [] }) => answers.map(({ answer }) => answer);

const VALUES = [
  true,
  false,
  0,
  1.5,
  "",
  "text ✓",
  [],
  {},
  [1, [2]],
  { a: { b: null } },
  null,
  "null",
  { type: "edit" },
];

/** Answers one of several open questions, by its id. */
const answerOne = (thread, { id }, value) => thread.resume({ [id]: value });

export const PROMISES = [
  {
    name: "Of a hundred answers at once, one counts",
    async holds(server) {
      const thread = await Thread.create(server, "question");
      await thread.pause();
      await Promise.all(Array.from({ length: 100 }, (_, at) => thread.resume(at).catch(() => null)));
      await awaitEnd(thread);
    },
  },
  {
    name: "The other ninety-nine are told so",
    async holds(server) {
      const thread = await Thread.create(server, "question");
      await thread.pause();
      const replies = await Promise.all(Array.from({ length: 100 }, (_, at) => thread.resume(at)));
      const successes = replies.filter(accepted).length;
      check(successes === 1, `${successes} of 100 answers got a success`);
    },
  },
  {
    name: "A late answer is refused, and changes nothing",
    async holds(server) {
      const thread = await Thread.create(server, "question");
      await thread.pause();
      await thread.resume("first");
      const late = await thread.resume("second");
      const { status } = late;
      equal(given(await thread.values()), ["first"], "answers of the thread");
      await thread.resume("third");
      check(!accepted(late), `the late answer got ${status}`);
    },
  },
  {
    name: "An answer to an unknown question is refused, and the open one stays",
    async holds(server) {
      const thread = await Thread.create(server, "question");
      await thread.pause();
      const reply = await thread.resume({ ["0".repeat(32)]: "yes" });
      check(!accepted(reply), `the answer got ${reply.status}`);
      check((await thread.questions()).length === 1, "the open question is gone");
    },
  },
  {
    name: "Every JSON value arrives as it was given",
    async holds(server) {
      for (const value of VALUES) {
        const thread = await Thread.create(server, "question");
        await thread.pause();
        const reply = await thread.resume(value);
        check(accepted(reply), `${JSON.stringify(value)} got ${reply.status}`);
        equal(given(await thread.values()), [value], `the answer ${JSON.stringify(value)}`);
      }
    },
  },
  {
    name: "Parallel questions take their answers in any order, one by one",
    async holds(server) {
      const thread = await Thread.create(server, "parallel");
      const open = await thread.pause();
      check(open.length === 3, `${open.length} of three questions are shown`);
      for (const of of ["b", "a", "c"]) {
        const question = (await thread.questions()).find(({ value }) => value.of === of);
        check(question !== undefined, `the question ${of} is not open`);
        check(accepted(await answerOne(thread, question, `to ${of}`)), `the answer to ${of} is refused`);
      }
      const { answers = [] } = await thread.values();
      const all = answers.map(({ of, answer }) => `${of}: ${answer}`).toSorted();
      equal(all, ["a: to a", "b: to b", "c: to c"], "answers of the thread");
    },
  },
  {
    name: "Questions that one task asks at once get their own answers",
    async holds(server) {
      const thread = await Thread.create(server, "together");
      await thread.pause();
      for (let round = 0; round < 3; round++) {
        const [question] = await thread.questions();
        if (question === undefined) break;
        await answerOne(thread, question, `to ${question.value.of}`);
      }
      const { answers = [] } = await thread.values();
      equal(
        answers,
        ["a", "b"].map((of) => ({ of, answer: `to ${of}` })),
        "answers of the thread",
      );
    },
  },
  {
    name: "Questions that one task asks in turn get their own answers",
    async holds(server) {
      const thread = await Thread.create(server, "series");
      for (const of of ["first", "second"]) {
        const [question] = of === "first" ? await thread.pause() : await thread.questions();
        equal(question?.value, { of }, "the open question");
        await thread.resume(`to ${of}`);
      }
      equal((await thread.values()).answers, ["to first", "to second"], "answers of the thread");
    },
  },
  {
    name: "The configuration of the run is there after its pause",
    async holds(server) {
      const thread = await Thread.create(server, "context");
      await thread.pause({ config: { configurable: { user: "ann" } } });
      await thread.resume("yes");
      equal((await thread.values()).trail, ["ann", "ann"], "what the steps saw");
    },
  },
  {
    name: "After a value that the node refuses, the question takes another",
    async holds(server) {
      const thread = await Thread.create(server, "strict");
      await thread.pause();
      await thread.resume("many");
      const [question] = await thread.questions();
      check(question !== undefined, "the question is gone after the refused value");
      await thread.resume(3);
      equal((await thread.values()).answers, [3], "answers of the thread");
    },
  },
  {
    name: "A question two graphs deep is shown, and takes its answer",
    async holds(server) {
      const thread = await Thread.create(server, "nested");
      const [question] = await thread.pause();
      equal(question.value, { question: "inside" }, "the open question");
      await thread.resume("yes");
      equal(
        await thread.values().then(({ trail, answers }) => ({ trail, answers })),
        { trail: ["prepare"], answers: ["yes"] },
        "the state",
      );
    },
  },
  {
    name: "A task of the functional form before a question runs once",
    async holds(server) {
      const thread = await Thread.create(server, "functional");
      const [{ value }] = await thread.pause();
      const { body } = await thread.resume("yes");
      const result = Object.keys(body ?? {}).length > 0 ? body : await thread.values();
      equal(result, { drawn: value.drawn, answer: "yes" }, "the result");
    },
  },
  {
    name: "A breakpoint stops before its node, which then runs once",
    async holds(server) {
      const thread = await Thread.create(server, "question");
      await thread.run({ interrupt_before: ["after"] });
      await thread.resume("yes", { interrupt_before: ["after"] });
      equal((await thread.values()).trail, ["before", "ask"], "steps before the breakpoint");
      await thread.run({ input: null });
      equal((await thread.values()).trail, ["before", "ask", "after"], "steps of the thread");
    },
  },
  {
    name: "A replay from a checkpoint asks again, and takes another answer",
    async holds(server) {
      const thread = await Thread.create(server, "question");
      await thread.pause();
      await thread.resume("first");
      const point = await findCheckpoint(thread);
      await thread.run({ input: null, checkpoint: point });
      check((await thread.questions()).length === 1, "the replay asked no question");
      check(accepted(await thread.resume("second")), "the answer is refused");
      equal(given(await thread.values()), ["second"], "answers of the thread");
    },
  },
  {
    name: "An edit of the past makes a branch, and the history keeps both",
    async holds(server) {
      const thread = await Thread.create(server, "question");
      await thread.pause();
      await thread.resume("first");
      const point = await findCheckpoint(thread);
      const edit = { values: { trail: ["edited"] }, checkpoint: point, as_node: "before" };
      await server.ask("POST", `${thread.path}/state`, edit);
      await thread.run({ input: null });
      await thread.resume("second");
      const { trail, answers } = await thread.values();
      equal([trail, given({ answers })], [["before", "edited", "ask", "after"], ["second"]], "the branch");
      const ends = (await thread.history()).filter(({ values }) => given(values ?? {}).includes("first"));
      check(ends.length > 0, "the first branch is not in the history");
    },
  },
  {
    name: "A paused thread takes its answer after a deploy that added a step",
    needs: "restart",
    async holds(server, { restart }) {
      const thread = await Thread.create(server, "question");
      await thread.pause();
      await new Promise((resolve) => setTimeout(resolve, 5000)); // a deploy gives a server time to save
      await restart("changed", "SIGTERM");
      try {
        check(accepted(await thread.resume("yes")), "the answer is refused after the deploy");
        equal((await thread.values()).trail, ["before", "ask", "after", "added"], "steps of the thread");
      } finally {
        const { shown } = server;
        await restart("graphs", "SIGTERM");
        server.shown = shown;
      }
    },
  },
  {
    name: "Two servers share a database: one pauses, and the other takes the answer",
    needs: "second",
    async holds(server, { second }) {
      const thread = await Thread.create(server, "question");
      await thread.pause();
      const other = thread.on(second);
      try {
        check((await other.questions()).length === 1, "the other server does not see the question");
        check(accepted(await other.resume("yes")), "the other server refuses the answer");
      } catch (error) {
        server.shown = second.shown;
        throw error;
      }
      equal(given(await thread.values()), ["yes"], "answers of the thread");
    },
  },
  {
    name: "Of a hundred answers over two servers, one counts",
    needs: "second",
    async holds(server, { second }) {
      const thread = await Thread.create(server, "question");
      await thread.pause();
      const both = [thread, thread.on(second)];
      await Promise.all(Array.from({ length: 100 }, (_, at) => both[at % 2].resume(at).catch(() => null)));
      await awaitEnd(thread);
    },
  },
  {
    name: "A pause that callers see is there after `kill -9`, and takes its answer",
    needs: "restart",
    async holds(server, { restart }) {
      const thread = await Thread.create(server, "question");
      const [question] = await thread.pause();
      await restart("graphs", "SIGKILL");
      const [after] = await thread.questions();
      check(after?.id === question.id, "the question is gone after the restart");
      check(accepted(await thread.resume("yes")), "the answer is refused after the restart");
      equal(given(await thread.values()), ["yes"], "answers of the thread");
    },
  },
  {
    name: "A run that was accepted goes on after `kill -9`",
    needs: "restart",
    async holds(server, { restart }) {
      const thread = await Thread.create(server, "question");
      await server.ask("POST", `${thread.path}/runs`, { assistant_id: "question", input: { wait: 500 } });
      await restart("graphs", "SIGKILL");
      const asks = async () => (await thread.questions()).length > 0;
      await thread.until("the run did not reach its question within 30 s of the restart", asks, 300);
    },
  },
];

/** Waits for the end of `question`, and for runs that may still follow. */
async function awaitEnd(thread) {
  const ended = async () => ((await thread.values()).trail ?? []).includes("after");
  await thread.until("the thread did not end within 5 s", ended, 50);
  await new Promise((resolve) => setTimeout(resolve, 500));
  equal((await thread.values()).trail, ["before", "ask", "after"], "steps of the thread");
}

/** The state before the question, which its node has not seen yet. */
async function findCheckpoint(thread) {
  const point = (await thread.history()).find(
    ({ next = [], values }) => next.includes("ask") && (values?.trail ?? []).length === 1,
  );
  if (point === undefined) throw new Broken("the history has no state before the question");
  return { checkpoint_ns: "", checkpoint_id: point.checkpoint.checkpoint_id };
}

/**
 * Asks a server for every promise, one after the other.
 * @param place `url`; `second`: another server on the same database; `restart`: ends the server with a signal (`SIGKILL` or
 *   `SIGTERM`) and starts it with the graphs of a folder (`graphs` or `changed`)
 * @throws {NotStarted}
 * @returns rows of `{name, kept, reason, request}`; `kept` is null for a promise that was not asked
 */
export async function askPromises({ url, second, restart, headers, only, onRow = () => undefined }) {
  const server = new Server(url, headers);
  await server.untilUp();
  const means = {
    second: second === undefined ? undefined : new Server(second, headers),
    restart:
      restart === undefined
        ? undefined
        : async (graphs, signal) => {
            try {
              await restart(graphs, signal);
              await server.untilUp();
            } catch (error) {
              throw new NotStarted(error.message);
            }
          },
  };
  const rows = [];
  for (const promise of PROMISES) {
    if (only !== undefined && !promise.name.includes(only)) continue;
    const row = await askOne(server, means, promise);
    rows.push(row);
    onRow(row);
  }
  return rows;
}

/** A server that is not there breaks no promise: a table without it would be wrong for the rest of its rows. */
class NotStarted extends Error {
  constructor(reason) {
    super(`the server did not start again, so nothing more was asked of it: ${reason}`);
  }
}

async function askOne(server, means, promise) {
  const { name, needs } = promise;
  if (needs !== undefined && means[needs] === undefined)
    return { name, kept: null, reason: `no --${needs}`, request: "" };
  try {
    await promise.holds(server, means);
    return { name, kept: true, reason: "", request: "" };
  } catch (error) {
    if (error instanceof NotStarted) throw error;
    if (!(error instanceof Broken)) error.message = `${error.message} (unexpected reply)`;
    return { name, kept: false, reason: error.message, request: server.shown };
  }
}
