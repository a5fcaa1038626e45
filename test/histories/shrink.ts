// Shrinking and recording of bad histories. A recorded one is checked again by `node test/histories/check.ts FILE`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { linearize, linearizeBy, printed, type Call, type Model } from "./linearizable.ts";

/** @returns the calls without one; without the start of a question also its answers, which would be bad by that alone */
function removeCall<O extends object>(history: readonly Call<O>[], gone: Call<O>): readonly Call<O>[] {
  const { verb, question = null } = gone.op as Asking;
  const isAnswer = ({ op }: Call<O>): boolean =>
    question !== null && (op as Asking).verb === "answer" && (op as Asking).question === question;
  return history.filter((call) => call !== gone && !(verb === "start" && isAnswer(call)));
}

interface Asking {
  readonly verb?: string;
  readonly question?: string | null;
}

/** @param history a bad one @returns calls of it that are still bad, and good without any one of them */
export function shrink<O extends object>(
  history: readonly Call<O>[],
  isBad: (history: readonly Call<O>[]) => boolean,
): readonly Call<O>[] {
  for (const call of history) {
    const fewer = removeCall(history, call);
    if (isBad(fewer)) return shrink(fewer, isBad);
  }
  return history;
}

export const isBadThread = (history: readonly Call[]): boolean => linearize(history) === null;

export const isBadBy =
  <O, S>(model: Model<O, S>) =>
  (history: readonly Call<O>[]): boolean =>
    linearizeBy(model, history) === null;

/** Writes a bad history to a file. @returns what a person reads: the shrunken one, and the file */
export function record(history: readonly Call[], path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    JSON.stringify(history, (_, value: unknown) => (value === Infinity ? "never" : value)),
  );
  return `${printed(shrink(history, isBadThread))}\nrecorded in ${path}`;
}

export function readRecord(path: string): readonly Call[] {
  const revive = (_: string, value: unknown): unknown => (value === "never" ? Infinity : value);
  return JSON.parse(readFileSync(path, "utf8"), revive) as readonly Call[];
}
