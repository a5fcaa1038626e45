// Program name: how a shell starts this program, so that printed commands run as they are.
import { relative } from "node:path";

/** Variables that npm sets for its commands and scripts. */
type NpmEnv = Readonly<Partial<Record<"npm_command" | "npm_lifecycle_event", string>>>;

/**
 * @param script the path that Node runs, as typed: a link in `node_modules/.bin` is not resolved
 * @param folder where the shell is
 */
export function programName(
  script: string,
  { npm_command: command, npm_lifecycle_event: event }: NpmEnv,
  folder: string,
): string {
  const path = script.replaceAll("\\", "/");
  if (path.endsWith("/packages/holdpoint/src/main.ts"))
    return event === undefined ? nodeCommand(script, folder) : "npm run holdpoint --"; // a clone
  const isInProject = path.includes("/node_modules/.bin/"); // not on the path of a shell
  return command === "exec" || isInProject ? "npx holdpoint" : "holdpoint";
}

function nodeCommand(script: string, folder: string): string {
  const inside = relative(folder, script);
  const path = inside.startsWith("..") ? script : inside;
  return `node ${/^[\w./\\:@-]+$/.test(path) ? path : `"${path}"`}`;
}
