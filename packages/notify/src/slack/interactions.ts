// Interactions: the route that Slack calls for a click on a button of a message or a submitted form.
// Invariants:
//   - A request that Slack did not sign now is refused before its body is parsed; a repeated one has no effect, at any
//     process.
//   - Slack gets its reply within three seconds. Longer work continues, and the member gets a note with the result.
//   - The member answers as the person behind the account, or gets the reason why not.
//   - The signature covers the time and the body as it was sent; the comparison takes constant time.
//   - A request of another time than the last or next five minutes is refused.
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import type { AgentContext } from "@holdpoint/server/context/context.ts";
import type { Origin } from "@holdpoint/server/model/model.ts";
import type { SlackApi } from "@holdpoint/server/ports/ports.ts";
import { mrkdwn } from "@holdpoint/server/webhooks/slack-message.ts";
import { resolveCaller } from "../items/callers.ts";
import { answerRemotely, type RemoteOutcome } from "../items/remote-answer.ts";
import type { Members } from "./members.ts";
import { decisionModal, INPUT, needsForm } from "./modal.ts";
import { recordNotice } from "./notices.ts";
import { type Interaction, readInteraction } from "./payload.ts";
import { createHmac, timingSafeEqual } from "node:crypto";

export interface InteractionPorts {
  readonly agent: AgentContext;
  readonly slack: SlackApi;
  readonly members: Members;
  readonly signingSecret: string;
}

/** Half a second for the way back. */
const REPLY_MS = 2500;
/** A form may be filled in slowly, but a call of Slack's API must not hang. */
const CALL_MS = 10_000;
const NOTE_UNITS_MAX = 2000;
const ACCEPTED: RemoteOutcome = { kind: "accepted", note: null };

export function slackRoute(ports: InteractionPorts): HttpRoute {
  return {
    method: "post",
    path: "/slack/interactions",
    async handle(request) {
      const body = await request.readForm();
      const signature = await admit(ports, request, body);
      const interaction = readInteraction(parsePayload(body));
      if (interaction === null) return EMPTY;
      const origin: Origin = { address: request.remoteAddress, userAgent: null, via: "slack" };
      return react(ports, interaction, { origin, key: contentHash(`slack ${signature}`) });
    },
  };
}

const EMPTY: HttpReply = { status: 200, body: null };

/** @returns the signature @throws {ApiError} `unauthenticated` */
async function admit({ agent, signingSecret }: InteractionPorts, request: HttpRequest, body: string): Promise<string> {
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return typeof value === "string" ? value : undefined;
  };
  const signature = header("x-slack-signature");
  const signed = { timestamp: header("x-slack-request-timestamp"), signature, body };
  const now = agent.clock.now();
  const problem = signatureProblem(signed, signingSecret, now);
  if (problem !== null || signature === undefined) throw new ApiError("unauthenticated", problem ?? "");
  const expiresAt = now + 2 * TOLERANCE_SECS * 1000;
  const isNew = await agent.storage.transaction((tx) => tx.spendToken(contentHash(signature), expiresAt, now));
  if (!isNew) throw new ApiError("unauthenticated", "This request of Slack was received before.");
  return signature;
}

/** @throws {ApiError} `malformed_request` */
function parsePayload(body: string): Json {
  try {
    return JSON.parse(new URLSearchParams(body).get("payload") ?? "") as Json;
  } catch {
    throw new ApiError("malformed_request", "The form has no member `payload` with JSON.");
  }
}

interface Sender {
  readonly origin: Origin;
  readonly key: string;
}

async function react(ports: InteractionPorts, interaction: Interaction, sender: Sender): Promise<HttpReply> {
  const { clock, log } = ports.agent;
  const work = act(ports, interaction, sender);
  let cancelTimer: () => void = () => undefined;
  const late = new Promise<"late">((resolve) => (cancelTimer = clock.after(REPLY_MS, () => resolve("late"))));
  const outcome = await Promise.race([work, late]);
  cancelTimer();
  if (outcome === "late") {
    log.warning("slack_reply_late", { thread_id: interaction.threadId, interrupt_id: interaction.interruptId });
    void work.then((result) => tell(ports, interaction, result));
    return EMPTY;
  }
  if (outcome.kind === "refused" && interaction.kind === "form") {
    const body = { response_action: "errors", errors: { [INPUT]: outcome.reason.slice(0, 2000) } };
    return { status: 200, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  }
  void tell(ports, interaction, outcome);
  return EMPTY;
}

/** Never throws. */
async function act(ports: InteractionPorts, interaction: Interaction, { origin, key }: Sender): Promise<RemoteOutcome> {
  const { agent, members } = ports;
  const { threadId, interruptId, choice, member } = interaction;
  const signal = AbortSignal.timeout(CALL_MS);
  try {
    if (interaction.kind === "click") await remember(ports, interaction);
    if (interaction.kind === "click" && needsForm(choice)) return await openForm(ports, interaction, signal);
    const found = await members.readPerson(member, signal);
    if (found.kind === "refused") return { ...found, closed: false };
    const { text, picked } = interaction.kind === "form" ? interaction : { text: "", picked: false };
    const caller = await resolveCaller(agent, found.contact, origin);
    const { listed: isListed } = found.contact;
    return await answerRemotely(agent, caller, { threadId, interruptId, choice, text, picked, isListed, key });
  } catch (error) {
    if (error instanceof ApiError && error.status < 500)
      return { kind: "refused", reason: error.message, closed: false };
    agent.log.error("slack_interaction_failed", { thread_id: threadId, reason: String(error) });
    return { kind: "refused", reason: "The server cannot take the answer now. Try again in a minute.", closed: false };
  }
}

/** A click names its message. */
async function remember(
  { agent, slack }: InteractionPorts,
  { threadId, interruptId, channel, ts }: Extract<Interaction, { kind: "click" }>,
): Promise<void> {
  const at = agent.clock.now();
  await agent.storage.transaction((tx) =>
    recordNotice(tx, { threadId, interruptId }, { channel, ts }, { host: slack.host, at }),
  );
  agent.webhooks.wake();
}

async function openForm(
  { agent, slack }: InteractionPorts,
  { threadId, interruptId, choice, channel, trigger }: Extract<Interaction, { kind: "click" }>,
  signal: AbortSignal,
): Promise<RemoteOutcome> {
  const item = await agent.storage.transaction((tx) => tx.interrupt(threadId, interruptId));
  if (item?.state !== "open" || !needsForm(choice))
    return { kind: "refused", reason: "This question is no longer open.", closed: true };
  const reply = await slack.call(
    "views.open",
    { trigger_id: trigger, view: decisionModal(item, choice, channel) },
    signal,
  );
  if (reply.kind === "ok") return ACCEPTED;
  return { kind: "refused", reason: "Slack did not open the form. Click again.", closed: false };
}

/** A note that only the member sees. */
async function tell(
  { agent, slack }: InteractionPorts,
  { channel, member }: Interaction,
  outcome: RemoteOutcome,
): Promise<void> {
  const text = outcome.kind === "accepted" ? outcome.note : outcome.reason;
  if (text === null) return;
  const note = { channel, user: member, text: mrkdwn(visible(text), NOTE_UNITS_MAX) };
  const reply = await slack.call("chat.postEphemeral", note, AbortSignal.timeout(CALL_MS));
  if (reply.kind !== "ok")
    agent.log.info("slack_note_failed", { reason: "reason" in reply ? reply.reason : "rate limit" });
}

// Whether a request comes from Slack, by its signing secret (version v0).

/** Slack's own limit. */
const TOLERANCE_SECS = 5 * 60;

interface SignedRequest {
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly body: string;
}

/** @returns the reason of the refusal, or null */
function signatureProblem({ timestamp, signature, body }: SignedRequest, secret: string, now: number): string | null {
  if (timestamp === undefined || signature === undefined) return "The request has no signature of Slack.";
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECS)
    return "The time of the request is more than five minutes off.";
  const wanted = Buffer.from(`v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex")}`);
  const given = Buffer.from(signature);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return null;
  return "The signature does not match SLACK_SIGNING_SECRET.";
}
