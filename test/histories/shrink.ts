// Shrinking and recording of bad histories. A recorded one is checked again by `node test/histories/check.ts FILE`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { linearize, printed, type Call } from "./linearizable.ts";

/** @returns the calls without one; without the start of a question also its answers, which would be bad by that alone */
function removeCall(history: readonly Call[], gone: Call): readonly Call[] {
  const { op } = gone;
  const question = op.verb === "start" ? op.question : null;
  return history.filter(
    (call) => call !== gone && !(question !== null && call.op.verb === "answer" && call.op.question === question),
  );
}

/** @param history a bad one @returns calls of it that are still bad, and good without any one of them */
export function shrink(history: readonly Call[]): readonly Call[] {
  for (const call of history) {
    const fewer = removeCall(history, call);
    if (linearize(fewer) === null) return shrink(fewer);
  }
  return history;
}

/** Writes a bad history to a file. @returns what a person reads: the shrunken one, and the file */
export function record(history: readonly Call[], path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    JSON.stringify(history, (_, value: unknown) => (value === Infinity ? "never" : value)),
  );
  return `${printed(shrink(history))}\nrecorded in ${path}`;
}

export function readRecord(path: string): readonly Call[] {
  const revive = (_: string, value: unknown): unknown => (value === "never" ? Infinity : value);
  return JSON.parse(readFileSync(path, "utf8"), revive) as readonly Call[];
}
