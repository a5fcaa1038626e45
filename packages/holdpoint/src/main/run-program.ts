// Run program: another program with the terminal of this one.
import { spawn } from "node:child_process";
import { constants } from "node:os";

/** What a shell adds to the number of the signal that ended a program. */
const SIGNALLED = 128;
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** @returns its exit code, as a shell would report it @throws {Error} if it does not start */
export function runProgram(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit" });
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, forward);
    child.on("error", (error) => reject(new Error(`cannot run ${program}: ${error.message}`)));
    child.on("close", (code, signal) => {
      for (const one of FORWARDED) process.off(one, forward);
      resolve(code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
