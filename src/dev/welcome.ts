// Welcome: the text that `holdpoint dev` prints at its start: addresses, the pending sample, and the ways to answer it.
// The pieces:
//   sample.ts        the paused run in a new user's inbox
//   sample-span.ts   a model call as an OpenTelemetry SDK sends it
//   free-port.ts     a service on its usual port, or on the next free one
//   hosted-pages.ts  third-party pages that one start allows
//   browser.ts       opens a page on the user's screen
import { SAMPLE_GRAPH, type SampleOutcome, type PausedSample } from "./sample.ts";

export interface Running {
  readonly version: string;
  /** Of the agent server, with its prefix. */
  readonly url: string;
  readonly collectorUrl: string;
  /** Destination of traces, in words. */
  readonly traces: string;
  readonly graphs: readonly string[];
  /** Ports that this start took instead of the usual ones. */
  readonly moved: readonly MovedPort[];
  /** Hosted pages that this start allows, as links. */
  readonly pages: readonly string[];
  /** Null: the graphs are the user's own, and the server starts none of their runs. */
  readonly sample: SampleOutcome | null;
}

export interface MovedPort {
  readonly service: string;
  readonly usual: number;
  readonly taken: number;
}

/** One line, or none. */
function movedLines(moved: readonly MovedPort[]): readonly string[] {
  const list = moved.map(({ service, usual, taken }) => `${service} ${usual} → ${taken}`).join(", ");
  return list === "" ? [] : [`  ports moved   ${list} (the usual ones are in use)`];
}

export function inboxLink(url: string, { threadId, interruptId }: PausedSample): string {
  return `${url}/console/inbox/${threadId}/${interruptId}`;
}

export function welcome(running: Running): string {
  const { url, collectorUrl, traces, graphs, pages } = running;
  const lines = [
    "",
    `  Holdpoint ${running.version}`,
    "",
    `  agent server  ${url}    graphs: ${graphs.join(", ")}`,
    `  collector     ${collectorUrl}    traces: ${traces}`,
    `  API           ${url}/docs`,
    ...movedLines(running.moved),
    ...pages.map((page) => `  allowed       ${page}`),
    "",
    ...sampleLines(running).map((line) => `  ${line}`),
    "",
    "  Ctrl-C stops it. Pending approvals are kept.",
    "",
    "",
  ];
  return lines.join("\n");
}

function sampleLines({ url, sample }: Running): readonly string[] {
  if (sample === null) return [`Pending approvals: ${url}/console/inbox`];
  if (sample.kind === "none") return [`No sample run was started: ${sample.reason}`];
  const { threadId } = sample.sample;
  const approval = { assistant_id: SAMPLE_GRAPH, command: { resume: { decisions: [{ type: "approve" }] } } };
  return [
    `Paused: ${SAMPLE_GRAPH} is waiting for you`,
    "",
    `  ${inboxLink(url, sample.sample)}`,
    "",
    "Or from a terminal: show the interrupt, then answer it",
    "",
    `  curl -s ${url}/threads/${threadId}/state`,
    `  curl -s ${url}/threads/${threadId}/runs/wait -H 'Content-Type: application/json' -d '${JSON.stringify(approval)}'`,
  ];
}
