// Checks a recorded history again: `node test/histories/check.ts FILE`.
import { linearize, printed } from "./linearizable.ts";
import { isBadThread, readRecord, shrink } from "./shrink.ts";

const history = readRecord(process.argv[2] ?? "");
const isGood = linearize(history) !== null;
console.log(
  isGood ? `${history.length} calls, linearizable` : `not linearizable:\n${printed(shrink(history, isBadThread))}`,
);
process.exitCode = isGood ? 0 : 1;
