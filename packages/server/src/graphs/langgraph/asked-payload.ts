// Asked payload: an answer is handed to the interrupt() call that shows what its interrupt showed.
// LangGraph's interrupt() sees what is asked, and no hook of LangGraph does. So the module that defines it gets one more
// line when it loads (loading/source-hooks.ts), which puts this check around it. A copy that was loaded before stays as
// it is: `node --import holdpoint/register` loads it in time.
// Rules:
//   - Equal payloads match, in the order of their answers. Without one, payloads match that only differ in times, or in
//     random texts that name nothing: the state has none of them, and no two questions of the node at the same time
//     differ in them only.
//   - If none matches, the call asks anew, and no answer is handed over. The answers stay with the task if its
//     questions come at the same time: another call may ask for them. Otherwise the question has moved.
import { isAlike } from "../../model/payload/shown-payload.ts";
import {
  type Asking,
  type Scratchpad,
  type TaskConfig,
  readAsking,
  readContextConfig,
  readTaskConfig,
  runWithContextConfig,
} from "./question-places.ts";

type Interrupt = (value: unknown, options?: unknown) => unknown;

/** The line of the module finds the check under this name. */
const HOOK = Symbol.for("holdpoint.interrupt");
const MODULE = /\/@langchain\/langgraph\/dist\/interrupt\.(c?)js(?:\?|$)/;
const CHECKED = Symbol.for("holdpoint.interrupt.checked");

/** Once before LangGraph loads. */
export function offerPayloadCheck(): void {
  Object.assign(globalThis, { [HOOK]: withCheck });
}

/** The line for the module at `url`; null for all other modules. */
export function payloadCheckFor(url: string): string | null {
  const found = MODULE.exec(url);
  if (found === null) return null;
  const name = found[1] === "c" ? "exports.interrupt" : "interrupt";
  return `\n${name} = globalThis[Symbol.for("holdpoint.interrupt")]?.(${name}) ?? ${name};\n`;
}

function withCheck(original: Interrupt): Interrupt {
  const interrupt: Interrupt = (value, options) => {
    const config = readContextConfig();
    const task = readTaskConfig(config?.["configurable"]);
    if (config === undefined || task === null || task.pad.nullResume !== undefined) return original(value, options);
    return askAtPlace(task, config, value, (own) => runWithContextConfig(own, () => original(value, options)));
  };
  return Object.assign(interrupt, { [CHECKED]: true });
}

function askAtPlace(
  task: TaskConfig,
  config: Readonly<Record<string, unknown>>,
  value: unknown,
  ask: (config: object) => unknown,
): unknown {
  const { places, pad, place, ns, send } = task;
  const { resume: answers } = pad;
  const asking = readAsking(pad);
  const node = nodePath(ns);
  const below = answers.length === 0 ? findBelow(task, value) : null;
  if (below !== null) return ask(configWith(config, { interruptCounter: -1, resume: [below.value] }, () => undefined));
  noteConcurrent(task, asking, value, node);
  const found = answers.length === 0 ? null : findAnswer(task, asking, value, node);
  asking.count++;
  if (found !== null) asking.usedNumbers.add(found);
  else {
    asking.open.push(value);
    const carried = places.findCarried(place)?.index ?? null;
    const isWaiting = carried !== null && !asking.usedNumbers.has(carried);
    if (isWaiting && !places.concurrent.has(node)) places.moved();
    else if (answers.length > 0) send?.([["__resume__", answers]]);
  }
  const at = found ?? answers.length;
  const used = Math.max(-1, ...asking.usedNumbers) + 1;
  const note = (): void => send?.([["__resume__", answers.slice(0, used)]]);
  return ask(configWith(config, { interruptCounter: at - 1, resume: answers }, note));
}

function configWith(config: Readonly<Record<string, unknown>>, pad: Scratchpad, send: () => void): object {
  const given = config["configurable"] as object;
  return { ...config, configurable: { ...given, __pregel_scratchpad: pad, __pregel_send: send } };
}

/** A graph without checkpoints begins anew, in a namespace of its own: its tasks have no answers, those above have. */
function findBelow({ places, ns }: TaskConfig, value: unknown): { readonly value: unknown } | null {
  const above = ns.split("|").slice(0, -1);
  if (above.length === 0) return null;
  const asked = places.describe(value);
  return asked === null
    ? null
    : places.takeBelow(
        above.map((part) => part.split(":")[1] ?? ""),
        asked,
      );
}

/** A task that asks once more, although it has to wait for an answer, asks several questions at the same time. */
function noteConcurrent({ places }: TaskConfig, asking: Asking, value: unknown, node: string): void {
  if (asking.open.length === 0) return;
  places.concurrent.add(node);
  const asked = places.describe(value);
  const isOther = (one: unknown): boolean => {
    const open = places.describe(one);
    return open !== null && asked !== null && isAlike(open, asked) && open.exact !== asked.exact;
  };
  if (asked !== null && asked.random.length > 0 && asking.open.some(isOther)) places.concurrent.add(randomNames(node));
}

/** Random texts of this node tell its questions apart. */
function randomNames(node: string): string {
  return `${node} `;
}

/** The position of the answer to this question; null if none fits. */
function findAnswer(task: TaskConfig, asking: Asking, value: unknown, node: string): number | null {
  const { places, pad, place } = task;
  const asked = places.describe(value);
  const shown = places.readShown(place);
  const left = pad.resume.map((_, at) => at).filter((at) => !asking.usedNumbers.has(at));
  const equal = asked === null ? undefined : left.find((at) => shown[at]?.exact === asked.exact);
  if (equal !== undefined) return equal;
  // Nothing tells what it showed: an answer of an older server, or a value without a JSON form.
  const next = left.find((at) => at === asking.count && (asked === null || (shown[at] ?? null) === null));
  if (next !== undefined || asked === null) return next ?? null;
  const alike = left.find((at) => {
    const one = shown[at] ?? null;
    return one !== null && isAlike(one, asked);
  });
  if (alike === undefined || asked.random.length === 0) return alike ?? null;
  const isName = places.concurrent.has(randomNames(node)) || places.isInInput(pad.currentTaskInput, asked.random);
  return isName ? null : alike;
}

/** The node of a namespace, without the ids of its tasks: the same in every run. */
function nodePath(ns: string): string {
  return ns
    .split("|")
    .map((part) => part.split(":")[0])
    .join("|");
}
