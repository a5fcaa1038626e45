// Welcome: the text that `holdpoint dev` prints at its start: addresses, the pending item, and the commands for it.
// The pieces:
//   pending.ts       the item that waits: the newest of the inbox, or the sample of a new user
//   sample-span.ts   a model call as an OpenTelemetry SDK sends it
//   browser.ts       opens a page on the user's screen
import type { Pending, PendingItem } from "./pending.ts";

export interface Running {
  readonly version: string;
  /** Address of the agent server, with its prefix. */
  readonly url: string;
  /** False: the pages are not served. */
  readonly console: boolean;
  readonly collectorUrl: string;
  /** Destination of traces, in words. */
  readonly traces: string;
  readonly graphs: readonly ServedGraph[];
  /** Graphs that do not load; the log has the causes. */
  readonly failed: readonly string[];
  /** Ports that this start took instead of the usual ones. */
  readonly moved: readonly MovedPort[];
  /** Hosted pages that this start allows, as links. */
  readonly pages: readonly string[];
  readonly pending: Pending;
  /** A command line of this program, for a shell in this folder: `inbox ls` → `npx holdpoint inbox ls`. */
  readonly command: (words: string) => string;
}

export interface ServedGraph {
  readonly graphId: string;
  /** Its input is a conversation. */
  readonly takesMessages: boolean;
}

export interface MovedPort {
  readonly service: string;
  readonly usual: number;
  readonly actual: number;
}

/** One line, or none. */
function movedLines(moved: readonly MovedPort[]): readonly string[] {
  const list = moved.map(({ service, usual, actual }) => `${service} ${usual} → ${actual}`).join(", ");
  return list === "" ? [] : [`  ports moved   ${list} (the usual ones are in use)`];
}

export function inboxLink(url: string, { threadId, interruptId }: PendingItem): string {
  return `${url}/console/inbox/${threadId}/${interruptId}`;
}

export function welcome(running: Running): string {
  const { url, collectorUrl, traces, graphs, failed, pages } = running;
  const lines = [
    "",
    `  Holdpoint ${running.version}`,
    "",
    ...(running.console ? [`  console       ${url}/console`] : []),
    `  agent server  ${url}    graphs: ${graphs.map(({ graphId }) => graphId).join(", ") || "none"}`,
    ...(failed.length === 0 ? [] : [`  not loaded    ${failed.join(", ")} (the log has the causes)`]),
    `  collector     ${collectorUrl}    traces: ${traces}`,
    ...movedLines(running.moved),
    ...pages.map((page) => `  allowed       ${page}`),
    "",
    ...nextLines(running).map((line) => (line === "" ? "" : `  ${line}`)),
    "",
    "  Ctrl-C stops it. Pending approvals are kept.",
    "",
    "",
  ];
  return lines.join("\n");
}

function nextLines({ url, console: hasPages, pending, graphs, command }: Running): readonly string[] {
  if (pending.kind === "none") return [`No sample run was started: ${pending.reason}`];
  if (pending.kind === "empty") {
    const [graph] = graphs;
    if (graph === undefined) return ["Correct the graphs above: they load as soon as their files are saved."];
    const input = graph.takesMessages ? `--message "Hello"` : `--input '{}'`;
    return ["Run a graph from another terminal, in this folder:", "", `  ${command(`run ${graph.graphId} ${input}`)}`];
  }
  const { item } = pending;
  return [
    `${item.graphId} is waiting for an answer:`,
    "",
    ...(hasPages ? [`  ${inboxLink(url, item)}`, ""] : []),
    "Or from another terminal, in this folder:",
    "",
    `  ${command(`inbox show ${item.interruptId}`)}`,
    ...(item.answer === null ? [] : [`  ${command(item.answer)}`]),
  ];
}
