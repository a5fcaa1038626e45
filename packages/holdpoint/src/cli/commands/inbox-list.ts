// Inbox views: the list, and one item with everything a decision needs.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { type Action, type Question, recognise } from "@holdpoint/api/dialects.ts";
import { formatAnswer } from "@holdpoint/api/text/answer-words.ts";
import { formatAction, formatRequest } from "@holdpoint/api/text/payload-content.ts";
import { formatHint } from "@holdpoint/api/text/payload-excerpt.ts";
import { shortId, shortIds } from "@holdpoint/api/text/short-id.ts";
import { type ServerOptions, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { findItems, findThread, inboxItems } from "../client/resolve-id.ts";
import { type PrintOptions, paint, printJson, printColumns } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { duration, jsonText, oneLine, printable, wrap } from "../output/sanitize.ts";
import { objectOption } from "./input.ts";
import { formatPairs, openPage } from "./open.ts";

const DANGEROUS = "DANGEROUS";

export interface InboxFilter extends ServerOptions, PrintOptions {
  readonly search?: string;
  readonly graph?: string;
  readonly assistant?: string;
  readonly node?: string;
  readonly kind?: string;
  readonly thread?: string;
  readonly olderThan?: string;
  readonly metadata?: string;
  readonly claimedBy?: string;
  readonly unclaimed?: boolean;
  readonly sort: string;
  readonly limit: number;
}

export async function listItems(cli: Cli, filter: InboxFilter): Promise<ExitCode> {
  const { sort: order } = filter;
  if (filter.web === true) {
    const metadata = formatPairs(await objectOption(cli, "--metadata", filter.metadata));
    return openPage(cli, filter, "/inbox", { ...buildPageQuery(filter, order), metadata });
  }
  const client = await agentClient(cli, filter);
  const thread = filter.thread === undefined ? undefined : await findThread(client, filter.thread);
  const query = {
    q: filter.search,
    graph_id: filter.graph,
    assistant_id: filter.assistant,
    node: filter.node,
    kind: filter.kind,
    thread_id: thread,
    older_than: filter.olderThan,
    metadata: filter.metadata,
    claimed_by: filter.claimedBy,
    unclaimed: filter.unclaimed,
    sort: order,
  };
  const items = await inboxItems(client, query, filter.limit);
  printColumns(cli, items, buildColumns, { ...filter, none: "No pending interrupts." });
  return EXIT.done;
}

/** The same filters, as the console has them. */
function buildPageQuery(filter: InboxFilter, order: string): Readonly<Record<string, string | undefined>> {
  const { search: text, graph, assistant, node, kind, olderThan: older, claimedBy, unclaimed } = filter;
  return { text, graph, assistant, node, kind, older, claim: unclaimed === true ? "nobody" : claimedBy, order };
}

function buildColumns(items: readonly InboxItem[], now: number, wide: boolean): readonly Column<InboxItem>[] {
  const id = wide ? String : shortIds(items.map((item) => item.id));
  const thread = wide ? String : shortIds(items.map((item) => item.thread_id));
  return [
    { title: "ID", cell: (item) => id(item.id) },
    { title: "AGE", cell: (item) => duration(now - Date.parse(item.created_at)), right: true },
    { title: "GRAPH", cell: (item) => item.graph_id, least: 8 },
    { title: "NODE", cell: (item) => item.node, least: 6, optional: true },
    { title: "KIND", cell: (item) => item.kind, optional: true },
    { title: "TITLE", cell: (item) => formatRow(item), least: 12 },
    { title: "PRIORITY", cell: ({ priority }) => (priority === "normal" ? "" : priority), optional: true },
    { title: "DUE", cell: (item) => dueIn(item, now), optional: true },
    { title: "CLAIMED", cell: (item) => item.claim?.by ?? "", least: 6, optional: true },
    { title: "THREAD", cell: (item) => thread(item.thread_id), optional: true },
  ];
}

const formatRow = (item: InboxItem): string =>
  [item.dangerous ? DANGEROUS : "", item.title, formatHint(item)].filter((part) => part !== "").join("  ");

function dueIn({ deadline }: InboxItem, now: number): string {
  if (deadline === null) return "";
  const left = Date.parse(deadline.expires_at) - now;
  return left <= 0 ? "overdue" : duration(left);
}

export async function showItem(cli: Cli, word: string, options: ServerOptions & PrintOptions): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const [item] = await findItems(client, [word]);
  if (item === undefined) return EXIT.failed;
  if (options.web === true) return openPage(cli, options, `/inbox/${item.thread_id}/${item.id}`);
  if (options.json === true) printJson(cli.terminal, item);
  else cli.terminal.out(`${itemLines(cli, item, cli.clock.now()).join("\n")}\n`);
  return EXIT.done;
}

export function readQuestion(item: InboxItem): Question {
  return recognise(item.value, item.response_schema ?? null);
}

/** One item with its question and, if hinted, the commands that answer it. */
export function itemLines(
  { terminal, program }: Pick<Cli, "terminal" | "program">,
  item: InboxItem,
  now: number,
  hinted = true,
): readonly string[] {
  const { columns } = terminal;
  const fact = (name: string, text: string): string => `${paint(terminal, "dim", name.padEnd(9))} ${oneLine(text)}`;
  const { claim, deadline, answered, failed_answer: failed } = item;
  const question = readQuestion(item);
  const block = (text: string): readonly string[] =>
    columns === null ? printable(text).split("\n") : wrap(printable(text), columns);
  return [
    ...(item.dangerous ? [paint(terminal, "red", DANGEROUS)] : []),
    paint(terminal, "bold", oneLine(item.title)),
    "",
    fact("id", item.id),
    fact("thread", item.thread_id),
    fact("graph", `${item.graph_id}, node ${item.node}`),
    ...(item.priority === "normal" ? [] : [fact("priority", item.priority)]),
    fact("waiting", `${duration(now - Date.parse(item.created_at))}, since ${item.created_at}`),
    ...(claim === null ? [] : [fact("claimed", `by ${claim.by}`)]),
    ...reviewFacts(item).map(([name, text]) => fact(name, text)),
    ...(deadline === null
      ? []
      : [fact("deadline", `${deadline.expires_at}, then: ${deadline.on_expiry ?? "the item stays open"}`)]),
    ...(item.state === "open" ? [] : [fact("state", item.state)]),
    ...(answered === undefined
      ? []
      : [fact("answered", `by ${answered.by} at ${answered.at}: ${formatAnswer(answered.value, question)}`)]),
    ...(failed === undefined ? [] : [fact("failed", `at ${failed.at}: ${failed.error}: ${failed.message}`)]),
    "",
    ...(item.kind === "breakpoint" ? block(`The run stopped before ${item.node}.`) : asked(terminal, item, block)),
    ...(item.state === "open" && hinted ? ["", ...hints(item, program)] : []),
  ];
}

/** Who may answer, the votes, and the follow-up date. */
function reviewFacts({ review, snoozed_until: until }: InboxItem): readonly (readonly [name: string, text: string])[] {
  const snoozed = until === undefined ? [] : [["snoozed", `until ${until}`] as const];
  if (review === undefined) return snoozed;
  const { assignees, excluded, approvals, rejections, votes, next_escalation: next, fault } = review;
  const votesText = votes
    .map(({ by, verdict }) => `${by} ${verdict === "approve" ? "approves" : "rejects"}`)
    .join(", ");
  return [
    ...snoozed,
    ...assignees.map((list) => ["for", list.join(", ")] as const),
    ...(excluded.length === 0 ? [] : [["not by", excluded.join(", ")] as const]),
    ["approvals", `${approvals.given} of ${approvals.needed}`],
    ...(rejections.needed === 1 ? [] : [["rejected", `${rejections.given} of ${rejections.needed}`] as const]),
    ...(votes.length === 0 ? [] : [["votes", votesText] as const]),
    ...(next === null ? [] : [["escalates", `to ${next.assignees.join(", ")} at ${next.at}`] as const]),
    ...(fault === null ? [] : [["fault", `nobody may answer: ${fault}`] as const]),
  ];
}

function asked(terminal: Terminal, item: InboxItem, block: (text: string) => readonly string[]): readonly string[] {
  const question = readQuestion(item);
  if (question.actions.length === 0) {
    const schema =
      question.schema === null
        ? []
        : ["", paint(terminal, "dim", "answer schema"), ...block(jsonText(question.schema, 2))];
    return [...block(formatRequest(item.value, question)), ...schema];
  }
  return question.actions.flatMap((action, index) => [
    ...(index === 0 ? [] : [""]),
    ...actionLines(terminal, action, index, block),
  ]);
}

function actionLines(
  terminal: Terminal,
  { name, description, args, allowed }: Action,
  index: number,
  block: (text: string) => readonly string[],
): readonly string[] {
  return [
    `${index + 1}. ${paint(terminal, "cyan", oneLine(name ?? "an action"))}  ${paint(terminal, "dim", allowed.join(", "))}`,
    ...block(formatAction({ description, args })),
  ];
}

/** The commands that answer the item. */
function hints(item: InboxItem, program: string): readonly string[] {
  const id = shortId(item.id);
  if (item.kind === "breakpoint") return [`${program} inbox approve ${id}`];
  const { allowed, actions, schema } = readQuestion(item);
  const text = `${program} inbox answer ${id} --text "…"`;
  const value = `${program} inbox answer ${id} '<JSON>'`;
  const line: Readonly<Record<string, string | readonly string[]>> = {
    approve: `${program} inbox approve ${id}`,
    edit: `${program} inbox edit ${id}${actions.length > 1 ? " --action 1 --others approve" : ""} --set name=value`,
    reject: `${program} inbox reject ${id} --message "why"`,
    respond: actions.length > 0 ? text : schema === null ? [text, value] : value,
  };
  return allowed.flatMap((decision) => line[decision] ?? []);
}
