// Browser: opens a page on the screen of the person who started the server, and on no other.
// Invariant: a page that cannot be opened changes nothing: the link is in the output.
import { spawn } from "node:child_process";

export interface Surroundings {
  /** False with --no-browser. */
  readonly wanted: boolean;
  readonly terminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** @returns the command that opens a page, or null without a visible screen: no terminal, CI, no display */
export function browserCommand({ wanted, terminal, env, platform }: Surroundings): readonly string[] | null {
  if (!wanted || !terminal || isSet(env["CI"])) return null;
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["cmd", "/c", "start", ""];
  return isSet(env["DISPLAY"]) || isSet(env["WAYLAND_DISPLAY"]) ? ["xdg-open"] : null;
}

export function openBrowser(page: string, [command, ...options]: readonly string[]): void {
  if (command === undefined) return;
  const child = spawn(command, [...options, page], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "false" && value !== "0";
}
