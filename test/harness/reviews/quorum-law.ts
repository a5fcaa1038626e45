// The law of votes and four eyes, over random histories: no question is decided by fewer distinct people who may answer
// than it asks for, and nobody whose input or edit is in the state has a part in the decision. People edit the state,
// give new input, and vote over any channel; with keys, they lose and get them and their roles too. A failure prints
// its seed.
import assert from "node:assert/strict";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Channel } from "../channels/channels.ts";
import { asWho, PEOPLE, type Who, type World } from "../channels/world.ts";
import { call, ROOT, type Answer } from "../server.ts";

export const QUORUM_GRAPHS = join(ROOT, "test", "graphs", "quorum", "langgraph.json");

export interface Law {
  readonly world: World;
  readonly channels: readonly Channel[];
  /** Key of an administrator who makes keys for the people. Absent: the people of the world, who keep their rights. */
  readonly adminKey?: string;
}

/** What the histories did, so that a test can tell that they did anything. */
export interface Told {
  decided: number;
  counted: number;
  refused: number;
}

interface Poll {
  readonly payload: object;
  /** The one that most people give. */
  readonly approval: unknown;
  readonly values: readonly unknown[];
  readonly rejections: readonly unknown[];
}

const PLAIN: Poll = {
  payload: { question: "Pay?" },
  approval: true,
  values: [true, "yes", { approved: true }, { amount: 1 }, false, { approved: false }, { approved: false, amount: 1 }],
  rejections: [false, { approved: false }],
};

const decide = (decision: object): object => ({ decisions: [decision] });
const refund = (amount: number): object => ({ name: "refund", args: { amount } });
const edit = (amount: number): object => decide({ type: "edit", edited_action: refund(amount) });

/** Decisions that a button, a form and a link can say. */
const REFUND: Poll = {
  payload: {
    action_requests: [refund(5)],
    review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "edit", "reject", "respond"] }],
  },
  approval: decide({ type: "approve" }),
  values: [edit(1), edit(2), decide({ type: "reject" }), decide({ type: "respond", message: "later" })],
  rejections: [decide({ type: "reject" }), decide({ type: "respond", message: "later" })],
};
const ROLES = ["operator", "operator", "reviewer"] as const;
const KEYS = 5;
const STEPS = 12;

/** mulberry32 */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

interface Person {
  readonly name: string;
  role: "operator" | "reviewer" | "viewer";
  /** Null once it is revoked; the old one is tried all the same. */
  keyId: string | null;
  /** A key, or the name of a person of the world. */
  key: string;
}

interface Asked {
  readonly threadId: string;
  interruptId: string;
  runId: string;
  readonly assistant: string;
}

export async function runHistory(law: Law, seed: number, told: Told): Promise<void> {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] ?? assert.fail();
  const hasKeys = law.adminKey !== undefined;
  const poll = hasKeys ? PLAIN : REFUND;
  const admin = (method: string, path: string, body?: unknown): Promise<Answer> =>
    call(law.world, method, path, body, asWho(law.adminKey ?? "reader"));
  const send = ({ key }: Person, path: string, body: unknown): Promise<Answer> =>
    call(law.world, "POST", path, body, asWho(key));

  const newKey = async (name: string, role: Person["role"]): Promise<Person> => {
    const { body, text } = await admin("POST", "/keys", { name, role });
    assert.ok(typeof body["key"] === "string", text);
    return { name, role, key: body["key"], keyId: String(body["key_id"]) };
  };
  const people: Person[] = hasKeys ? [] : PEOPLE.map((name) => ({ name, role: "operator", keyId: "", key: name }));
  for (let at = 0; at < (hasKeys ? KEYS : 0); at++)
    people.push(await newKey(`p${at}-${seed}`, at === 0 ? "operator" : pick(ROLES)));
  const isNested = hasKeys && random() < 0.4;
  const rules = isNested
    ? { approvals: 2, rejections: 1, four_eyes: true } // of test/graphs/reviews/pair.ts
    : { approvals: 1 + Math.floor(random() * 3), rejections: 1 + Math.floor(random() * 2), four_eyes: random() < 0.7 };

  const authors = new Set<string>();
  const votes = new Map<string, unknown>();
  const mayAnswer = ({ name, role, keyId }: Person): boolean =>
    keyId !== null && role !== "viewer" && !(rules.four_eyes && authors.has(name));
  const editors = (): readonly Person[] => people.filter(({ role, keyId }) => role === "operator" && keyId !== null);

  const { body: thread } = await send(people[0] ?? assert.fail(), "/threads", {});
  const asked: Asked = {
    threadId: String(thread["thread_id"]),
    interruptId: "",
    runId: "",
    assistant: isNested ? "nested" : "echo",
  };
  const trail: string[] = [];
  const where = (): string => `seed ${seed}, ${JSON.stringify(rules)}: ${trail.join("; ")}`;

  const start = async (who: Person, input: object | null): Promise<void> => {
    const run = { assistant_id: asked.assistant, input };
    const reply = await send(who, `/threads/${asked.threadId}/runs/wait`, run);
    assert.equal(reply.status, 200, `${where()}: ${reply.text}`);
    const [open] = (reply.body["__interrupt__"] ?? []) as readonly { readonly id: string }[];
    assert.ok(open !== undefined, `${where()}: ${reply.text}`);
    asked.interruptId = open.id;
    asked.runId = (reply.headers.get("content-location") ?? "").split("/").at(-1) ?? "";
    votes.clear();
    if (input !== null) authors.add(who.name);
  };

  /** Below an open question, or at the root, where the question is asked anew. */
  const change = async (who: Person): Promise<void> => {
    const { body } = await admin("GET", `/threads/${asked.threadId}/state?subgraphs=true`);
    const [task] = body["tasks"] as readonly { readonly state: { readonly checkpoint: object } }[];
    const edited = isNested
      ? { values: { mailed: "" }, checkpoint: task?.state.checkpoint }
      : { values: { notes: "" } };
    const { status, text } = await send(who, `/threads/${asked.threadId}/state`, edited);
    assert.equal(status, 200, `${where()}: ${text}`);
    authors.add(who.name);
    if (!isNested) await start(pick(editors()), null);
  };

  const check = async (voter: Person, value: unknown, channel: Channel): Promise<void> => {
    const before = await admin("GET", `/inbox/${asked.threadId}/${asked.interruptId}`);
    const who = voter.key as Who;
    await channel.send(law.world, asked, { who, value }).catch(() => undefined); // clients of protocols throw at a 401
    const { body } = await admin("GET", `/inbox/${asked.threadId}/${asked.interruptId}`);
    const isDecided = body["state"] === "answered";
    const own = ((body["review"]?.["votes"] ?? []) as readonly { readonly by: string }[]).some(
      ({ by }) => by === voter.name,
    );
    if (!isDecided && (!own || isDeepStrictEqual(body["review"], before.body["review"]))) return void told.refused++;
    assert.ok(mayAnswer(voter), `${where()}: ${voter.name} may not answer`);
    votes.set(voter.name, value);
    told.counted++;
    if (!isDecided) return;
    told.decided++;
    const isRejection = (given: unknown): boolean => poll.rejections.some((one) => isDeepStrictEqual(one, given));
    const isNo = isRejection(value);
    const agreeing = people.filter((one) => {
      if (!votes.has(one.name) || !mayAnswer(one)) return false;
      const other = votes.get(one.name);
      return isNo ? isRejection(other) : isDeepStrictEqual(other, value);
    });
    const needed = isNo ? rules.rejections : rules.approvals;
    assert.ok(agreeing.length >= needed, `${where()}: decided by ${agreeing.map(({ name }) => name).join(", ")}`);
    const answer = body["answered"] as { readonly by: string; readonly value: unknown };
    assert.deepEqual([answer.by, answer.value], [voter.name, value], where());
    asked.interruptId = "";
  };

  const input = isNested ? { mailed: "" } : { payload: { ...poll.payload, review_rules: rules } };
  await start(people[0] ?? assert.fail(), input);
  for (let step = 0; step < STEPS; step++) {
    const dice = random();
    const person = pick(people);
    const voted = people.filter(({ name, keyId }) => votes.has(name) && keyId !== null);
    const lost = voted.length > 0 ? pick(voted) : person; // a vote from before is what the law is about
    const voters = editors().filter(({ name }) => votes.has(name));
    const editor = voters.length > 0 ? pick(voters) : editors().length > 0 ? pick(editors()) : null;
    if (asked.interruptId === "") {
      if (editor === null) break;
      trail.push(`${editor.name} starts anew`);
      await waitUntilIdle(admin, asked.threadId);
      await start(editor, input);
    } else if (dice < 0.08 && editor !== null) {
      trail.push(`${editor.name} gives input`);
      await start(editor, input);
    } else if (dice < 0.2 && editor !== null) {
      trail.push(`${editor.name} edits`);
      await change(editor);
    } else if (hasKeys && dice < 0.32) {
      trail.push(`${lost.name} loses the key`);
      if (lost.keyId !== null) await admin("DELETE", `/keys/${lost.keyId}`);
      lost.keyId = null;
    } else if (hasKeys && dice < 0.44) {
      const changed = random() < 0.5 ? lost : person;
      const role = changed === lost ? "viewer" : pick(ROLES);
      trail.push(`${changed.name} is ${role} now`);
      if (changed.keyId !== null) await admin("DELETE", `/keys/${changed.keyId}`);
      Object.assign(changed, await newKey(changed.name, role));
    } else {
      const value = random() < 0.75 ? poll.approval : pick(poll.values);
      const channel = pick(law.channels.filter(({ says }) => says(value)));
      trail.push(`${person.name} answers ${JSON.stringify(value)} over ${channel.name}`);
      await check(person, value, channel);
    }
  }
  if (hasKeys) for (const { keyId } of people) if (keyId !== null) await admin("DELETE", `/keys/${keyId}`);
}

async function waitUntilIdle(
  admin: (method: string, path: string) => Promise<Answer>,
  threadId: string,
): Promise<void> {
  const { body: runs } = (await admin("GET", `/threads/${threadId}/runs?limit=1`)) as unknown as {
    readonly body: readonly { readonly run_id: string }[];
  };
  const [last] = runs;
  if (last !== undefined) await admin("GET", `/threads/${threadId}/runs/${last.run_id}/join`);
}
