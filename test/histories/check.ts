// Checks a recorded history again, and prints the calls of a bad one that contradict each other:
//   node test/histories/check.ts FILE
// Records a bad one of a simulated thread with a planted fault:
//   node test/histories/check.ts --plant "no lock" FILE
import { parseArgs } from "node:util";
import { randomFrom } from "../harness/reviews/quorum-law.ts";
import { type Call, linearize, printed } from "./linearizable.ts";
import { isBadThread, readRecord, record, shrink } from "./shrink.ts";
import { type Fault, simulate } from "./simulated-thread.ts";

const HISTORIES_MAX = 1500;

const {
  values: { plant, seed },
  positionals: [file],
} = parseArgs({
  options: { plant: { type: "string" }, seed: { type: "string", default: "1" } },
  allowPositionals: true,
});
if (file === undefined) throw new Error("name a file");
if (plant === undefined) check(readRecord(file));
else console.log(record(findBad(plant as Fault, Number(seed)), file));

function check(history: readonly Call[]): void {
  const isGood = linearize(history) !== null;
  console.log(
    isGood ? `${history.length} calls, linearizable` : `not linearizable:\n${printed(shrink(history, isBadThread))}`,
  );
  process.exitCode = isGood ? 0 : 1;
}

function findBad(fault: Fault, from: number): readonly Call[] {
  for (let at = from; at < from + HISTORIES_MAX; at++) {
    const made = simulate(randomFrom(at), fault);
    if (isBadThread(made)) return made;
  }
  throw new Error(`no history of ${HISTORIES_MAX} is bad: is "${fault}" a fault of simulated-thread.ts?`);
}
