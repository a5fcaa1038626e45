// strace as fault tests start it: detached (`-D`), so that the server is the child of the test. It still writes after
// the end of the server; its output is complete with the line that reports that end, which `-qq` leaves out.
import { existsSync, readFileSync } from "node:fs";
import { until } from "./fault-server.ts";

export const STRACE = ["strace", "-D", "-f", "-q"] as const;

/** @param pid of the server, whose end strace reports after that of its threads */
export function straceEnded(path: string, pid: number | undefined): Promise<void> {
  const end = new RegExp(`^${pid} +\\+\\+\\+ `, "m");
  return until("strace has written all", () => existsSync(path) && end.test(readFileSync(path, "latin1")));
}
