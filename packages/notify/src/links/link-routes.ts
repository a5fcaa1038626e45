// Link routes: one-use links of e-mails: a GET shows the question, a POST decides.
// Invariants:
//   - A GET changes nothing, however often scanners and previews open the link.
//   - A link answers once: after that it is marked as used. A repetition before the mark is the same answer, so a crash
//     in between doubles nothing.
//   - Only a person who may still answer sees the question: a link outlives neither the person's removal nor the role,
//     nor the limits of the role or the handlers.
//   - A link that is used, expired, forged or about a closed question says so.
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { authorize } from "@holdpoint/server/auth/authorize.ts";
import { inScope } from "@holdpoint/server/auth/scope.ts";
import type { AgentContext } from "@holdpoint/server/context/context.ts";
import { getItem } from "@holdpoint/server/inbox/inbox.ts";
import type { Caller, Interrupt, Origin } from "@holdpoint/server/model/model.ts";
import { resolveCaller } from "../items/callers.ts";
import { answerRemotely } from "../items/remote-answer.ts";
import type { Directory } from "../rules/directory.ts";
import { type Choice, formatEnd, buildItemView } from "../items/item-view.ts";
import { LINK_PATH, messagePage, questionPage } from "./link-page.ts";
import { type ReadToken, readToken } from "./link-token.ts";

export interface LinkPorts {
  readonly agent: AgentContext;
  readonly directory: Directory;
  readonly secret: string;
  readonly buildLink: (item: Pick<Interrupt, "threadId" | "interruptId">) => string;
}

/** A used link stays marked for so long past its end: a clock that goes forward and back must not revive it. */
const SPENT_MS = 400 * 24 * 60 * 60 * 1000;

export function linkRoutes(ports: LinkPorts): readonly HttpRoute[] {
  const route = (
    method: "get" | "post",
    reply: (found: Usable & { readonly caller: Caller }, request: HttpRequest) => Promise<HttpReply>,
  ): HttpRoute => ({
    method,
    path: `${LINK_PATH}/{token}`,
    async handle(request) {
      const found = await usable(ports, request.params["token"] ?? "");
      if (!("item" in found)) return found;
      const caller = await findCaller(ports, found, request);
      return "status" in caller ? caller : reply({ ...found, caller }, request);
    },
  });
  return [
    route("get", async ({ token, item }) => questionPage(item, token, ports.buildLink(item), null)),
    route("post", (found, request) => decide(ports, found, request)),
  ];
}

interface Usable {
  readonly token: ReadToken;
  readonly item: Interrupt;
}

/** @returns the open question of the link, or the page that says why there is none */
async function usable({ agent, secret, buildLink }: LinkPorts, text: string): Promise<Usable | HttpReply> {
  const token = readToken(text, secret);
  if (token === null) return messagePage(404, "This link is not valid", "Open the link as it is in the e-mail.", null);
  const { threadId, interruptId, expiresAt, id } = token;
  const console = buildLink(token);
  const { item, isSpent } = await agent.storage.transaction(async (tx) => ({
    item: await tx.interrupt(threadId, interruptId),
    isSpent: await tx.isSpent(id),
  }));
  const end = formatEnd(item);
  if (isSpent)
    return messagePage(410, "This link was used", end ?? "A link works once. Answer in the console.", console);
  if (item === null || end !== null) return messagePage(410, "This question is closed", end ?? "", console);
  if (expiresAt <= agent.clock.now())
    return messagePage(410, "This link has expired", "The question is still open: answer in the console.", console);
  return { token, item };
}

/** The person of the link, or the page that says why there is none. */
async function findCaller(
  { agent, directory, buildLink }: LinkPorts,
  { token, item }: Usable,
  request: HttpRequest,
): Promise<Caller | HttpReply> {
  if (!directory.stillNames(token.person, item)) {
    const reason = `${token.person} is not in the notification file any more.`;
    return messagePage(403, "You cannot answer this question", reason, buildLink(item));
  }
  const contact = await agent.storage.read((tx) => directory.byName(tx, token.person));
  const origin: Origin = { address: request.remoteAddress, userAgent: readUserAgent(request), via: "email" };
  try {
    const caller = await resolveCaller(agent, contact, origin);
    if (agent.access === null) return caller;
    const { scope } = await authorize(agent.access, caller, "threads:answer", { thread_id: item.threadId });
    const { thread } = await getItem(agent, item);
    if (!inScope(thread.metadata, scope)) throw new ApiError("forbidden", "The question is outside your access.");
    return caller;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return messagePage(403, "You cannot answer this question", error.message, buildLink(item));
  }
}

async function decide(
  ports: LinkPorts,
  { token, item, caller }: Usable & { readonly caller: Caller },
  request: HttpRequest,
): Promise<HttpReply> {
  const { agent, buildLink, directory } = ports;
  const { threadId, interruptId, id, expiresAt, person } = token;
  // a workflow that gives the decision of its address needs no form
  const isBare = token.choice !== null && request.headers["content-type"] === undefined;
  const form = new URLSearchParams(isBare ? "" : await request.readForm());
  const wanted = form.get("choice") ?? token.choice;
  const choice = buildItemView(item).choices.find((one) => one === wanted && (token.choice ?? one) === one);
  const console = buildLink(item);
  if (choice === undefined) return questionPage(item, token, console, "Choose one of the decisions.");
  const text = (form.get("text") ?? "").replaceAll("\r\n", "\n");
  const isListed = directory.listedNames.includes(person);
  const outcome = await answerRemotely(agent, caller, { threadId, interruptId, choice, text, isListed, key: id });
  if (outcome.kind === "refused") {
    if (outcome.closed) return messagePage(410, "This question is closed", outcome.reason, console);
    return questionPage(item, token, console, outcome.reason);
  }
  const now = agent.clock.now();
  await agent.storage.transaction((tx) => tx.spendToken(id, Math.max(expiresAt, now) + SPENT_MS, now));
  const { note } = outcome;
  if (note !== null) return messagePage(200, "Your vote is counted", note, console);
  return messagePage(200, DONE[choice], "Your answer is stored. You can close this page.", console);
}

const DONE: Readonly<Record<Choice, string>> = {
  approve: "Approved",
  reject: "Rejected",
  edit: "Approved with changes",
  respond: "Answered",
  ignore: "Ignored",
  continue: "Continued",
};

const USER_AGENT_UNITS_MAX = 256;

function readUserAgent({ headers }: HttpRequest): string | null {
  return headers["user-agent"]?.slice(0, USER_AGENT_UNITS_MAX) ?? null;
}
