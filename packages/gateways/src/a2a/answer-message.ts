// Answer message: a message with the id of a task → answers to its open items.
// Invariants:
//   - An item for people only gets no answer here.
//   - A message means one answer or none: any other is refused with the reason.
import type { Message } from "@a2a-js/sdk";
import { answerAll, recognise } from "@holdpoint/api/dialects.ts";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "@holdpoint/base/json/json.ts";
import type { ItemAnswer } from "../calls/answer-items.ts";
import { readFormAnswer, type FlatForm, type FormAnswer, buildForm } from "../calls/flat-form.ts";
import { linkTo } from "../calls/inbox-items.ts";
import { objectsIn, textIn } from "./content.ts";
import type { OpenItem } from "./question-parts.ts";

/** Member of a data part, or of the metadata, that names the item. */
const NAME = "interrupt_id";
/** Member of a data part: the answer as the graph gets it, instead of the fields of the form. */
const RAW = "resume";

export type Answers =
  | { readonly ok: true; readonly answers: readonly ItemAnswer[] }
  | { readonly ok: false; readonly reason: string };

/** One said answer and the item that it names, if it names one. */
interface Said {
  readonly id: string | null;
  readonly answerTo: (item: InboxItem) => FormAnswer;
}

export function readAnswers({ parts, metadata }: Message, open: readonly OpenItem[], publicUrl: string): Answers {
  const named = isJsonObject(metadata) ? readId(metadata) : null;
  const answers: ItemAnswer[] = [];
  for (const { id, answerTo } of saidIn(objectsIn(parts), textIn(parts))) {
    const target = findTarget(id ?? named, open);
    if ("reason" in target) return { ok: false, reason: target.reason };
    if (target.isForPeopleOnly)
      return {
        ok: false,
        reason: `Only a person may answer "${target.item.title}": ${linkTo(publicUrl, target.item)}`,
      };
    const answer = answerTo(target.item);
    if (!answer.ok) return { ok: false, reason: answer.reason };
    answers.push({ item: target.item, resume: answer.resume });
  }
  const ids = new Set(answers.map(({ item }) => item.id));
  if (ids.size < answers.length) return { ok: false, reason: "The message answers the same interrupt twice." };
  return { ok: true, answers };
}

/** Each data object is an answer; a message without any answers with its text. */
function saidIn(objects: readonly JsonObject[], text: string): readonly Said[] {
  if (objects.length === 0) return [{ id: null, answerTo: (item) => answerOfText(item, text) }];
  return objects.map((object) => {
    const { [NAME]: _named, ...content } = object;
    return { id: readId(object), answerTo: (item) => answerOfData(item, content) };
  });
}

function readId(object: JsonObject): string | null {
  const id = object[NAME];
  return typeof id === "string" ? id : null;
}

function findTarget(id: string | null, open: readonly OpenItem[]): OpenItem | { readonly reason: string } {
  const [first, second] = open;
  if (id !== null) {
    const found = open.find(({ item }) => item.id === id);
    return found ?? { reason: `The task has no open interrupt ${id}.` };
  }
  if (first === undefined) return { reason: "The task has no open interrupt." };
  if (second === undefined) return first;
  const ids = open.map(({ item }) => item.id).join(", ");
  return { reason: `Several interrupts are open: name one in each data part as \`${NAME}\`. ${ids}` };
}

function answerOfData(item: InboxItem, content: JsonObject): FormAnswer {
  if (item.kind === "breakpoint") return { ok: true, resume: undefined };
  if (RAW in content) return { ok: true, resume: content[RAW] ?? null };
  return buildForm(item) === null ? respond(item, content) : readFormAnswer(item, content);
}

/** A text is the choice of a decision, the value of the one field, or the answer itself. */
function answerOfText(item: InboxItem, text: string): FormAnswer {
  if (item.kind === "breakpoint") return { ok: true, resume: undefined };
  const form = buildForm(item);
  if (text === "") return { ok: false, reason: "The message has neither a text nor a data object." };
  if (form === null) return respond(item, parseJson(text) ?? text);
  const whole = parseJson(text);
  if (isJsonObject(whole)) return readFormAnswer(item, whole);
  return readFormAnswer(item, contentOfText(form, text));
}

function contentOfText({ schema }: FlatForm, text: string): JsonObject {
  const { decision, answer } = schema.properties;
  if (isJsonObject(decision)) return parseDecision(decision["enum"] ?? [], text);
  const type = isJsonObject(answer) ? answer["type"] : null;
  return { answer: type === "string" ? text : (parseJson(text) ?? text) };
}

/**
 * `approve`, or `reject: the reason`. Other texts, also `approve, but …`, are replies where the interrupt allows them.
 */
function parseDecision(choices: Json, text: string): JsonObject {
  const [, word = "", rest = ""] = /^\s*(\w+)\s*[.:,]?\s*(.*)$/s.exec(text) ?? [];
  const allowed = Array.isArray(choices) ? (choices as readonly Json[]) : [];
  const decision = word.toLowerCase();
  const isWhole = rest === "" ? decision !== "edit" : decision === "reject" || decision === "respond";
  if (allowed.includes(decision) && isWhole) return { decision, ...(rest === "" ? {} : { message: rest }) };
  return allowed.includes("respond") ? { decision: "respond", message: text } : {};
}

function respond({ value, response_schema: schema }: InboxItem, answer: Json): FormAnswer {
  const built = answerAll(recognise(value, schema ?? null), { type: "respond", value: answer });
  return built.ok ? { ok: true, resume: built.value } : { ok: false, reason: built.reason };
}
