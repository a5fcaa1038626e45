// Socket session: one WebSocket of the thread protocol: commands up, replies and events down.
// Invariants:
//   - Every frame is answered or closes the socket; commands are carried out in the order in which they came.
//   - A live event is sent once, however many subscriptions match it (one-copy.ts). A subscription is answered before
//     its replay. Its reader is its own: a closing socket takes no other along.
//   - A slow reader holds SEND_UNITS_MAX at most, and is closed when nothing leaves for STALL_MS.
//   - The caller is that of the upgrade. A right that is lost closes the socket.
import { WebSocket } from "ws";
import { command, eventFilter } from "@holdpoint/api/protocol.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { toApiError } from "@holdpoint/base/http/server/problem.ts";
import type { AgentContext } from "../../context/context.ts";
import type { Caller } from "../../model/model.ts";
import { CutOff } from "../../runs/streams/subscription.ts";
import { attach, type ScopeWatch } from "../attach.ts";
import { carryOut } from "../carry-out.ts";
import type { CommandCall } from "../command-call.ts";
import { CommandError, buildFailure, type Envelope } from "../envelope.ts";
import { toEventFilter, isKnownChannel } from "../event-filter.ts";
import { OutOfReach, type Piece, type Reading } from "../read-events.ts";
import { missedSince } from "../replay-rules.ts";
import { firstCopies, type Followed } from "./one-copy.ts";
import { parse } from "@holdpoint/api/operation.ts";

export const CLOSED = {
  lostRight: 4403,
  deleted: 4404,
  tooMany: 4429,
  restart: 1012,
  overload: 1013,
  fault: 1011,
} as const;

const SUBSCRIPTIONS_MAX = 100;
const COMMANDS_MAX = 16;
const SEND_UNITS_MAX = 1024 * 1024;
const STALL_MS = 60_000;
const PING_MS = 20_000;

export interface SessionPorts {
  readonly agent: AgentContext;
  readonly socket: WebSocket;
  readonly threadId: string;
  readonly caller: Caller;
  readonly request: Omit<CommandCall["request"], "body">;
  readonly watch: ScopeWatch;
}

interface Subscription extends Followed {
  readonly reading: Reading;
}

interface Session {
  readonly ports: SessionPorts;
  readonly subscriptions: Map<string, Subscription>;
  /** Readings whose subscription ended: their end says nothing about the thread. */
  readonly left: Set<Reading>;
  readonly send: (text: string) => Promise<void>;
}

/** Runs until the socket is closed. */
export function startSession(ports: SessionPorts): void {
  const { agent, socket, watch } = ports;
  const send = createSender(agent, socket);
  const session: Session = { ports, subscriptions: new Map(), left: new Set(), send };
  let waiting = 0;
  let turn = Promise.resolve();
  const stopPings = startPings(agent, socket);
  const stopHub = agent.events.onStop(() => socket.close(CLOSED.restart, "the server restarts"));
  socket.on("message", (data, isBinary) => {
    if (isBinary) return socket.close(1003, "text frames only");
    const text = (data as Buffer).toString("utf8");
    if (waiting >= COMMANDS_MAX) {
      if (socket.bufferedAmount >= SEND_UNITS_MAX) return socket.close(CLOSED.tooMany, "too many commands at once");
      const refusal = new CommandError("invalid_argument", "too many commands at once");
      void send(JSON.stringify(buildFailure(frameId(text), refusal)));
      return;
    }
    waiting++;
    turn = turn.then(() => answer(session, text)).finally(() => void waiting--);
  });
  socket.on("error", () => undefined); // the close event follows
  socket.once("close", () => {
    stopPings();
    stopHub();
    watch.stop();
    for (const { reading } of session.subscriptions.values()) reading.leave();
  });
  if (agent.events.stopped()) socket.close(CLOSED.restart, "the server restarts");
}

async function answer(session: Session, text: string): Promise<void> {
  const { agent, threadId, caller, request } = session.ports;
  let id: number | null = null;
  try {
    const value = parseFrame(text);
    id = readCommandId(value);
    const body = parse(command, value, "body");
    if (body.method === "subscription.subscribe") return await subscribe(session, body.id, body.params);
    if (body.method === "subscription.unsubscribe") return await unsubscribe(session, body.id, body.params);
    const call = { threadId, caller, command: body, request: { ...request, body: { value, text } } };
    const { envelope } = await carryOut(agent, call);
    await session.send(JSON.stringify(envelope));
  } catch (error) {
    const refusal = error instanceof CommandError ? error : toApiError(error, agent.log);
    await session.send(JSON.stringify(buildFailure(id, refusal) satisfies Envelope));
  }
}

async function subscribe(session: Session, id: number, params: unknown): Promise<void> {
  const { agent, socket, threadId, watch } = session.ports;
  const body = parse(eventFilter, params ?? {}, "body");
  const unknown = body.channels.find((channel) => !isKnownChannel(channel));
  if (unknown !== undefined) throw new CommandError("invalid_argument", `There is no channel ${unknown}.`);
  if (session.subscriptions.size >= SUBSCRIPTIONS_MAX)
    throw new CommandError("invalid_argument", "too many subscriptions");
  const filter = toEventFilter(body);
  const missed = await missedSince(agent, threadId, filter, watch.scope());
  const reading = await attach(agent, threadId, filter, watch);
  const subscriptionId = agent.newId();
  if (socket.readyState !== WebSocket.OPEN) return reading.leave(); // closed meanwhile
  const subscription: Subscription = { filter, live: null, reading };
  session.subscriptions.set(subscriptionId, subscription);
  const replay = await readReplay(reading);
  const result = {
    subscription_id: subscriptionId,
    ...(replay.isWhole ? { replayed_events: replay.events } : {}),
    ...(missed === 0 ? {} : { missed_events: missed }),
  };
  await session.send(JSON.stringify({ type: "success", id, result }));
  void follow(session, subscription, replay);
}

async function unsubscribe({ subscriptions, left, send }: Session, id: number, params: unknown): Promise<void> {
  const given = (params as { readonly subscription_id?: unknown } | undefined)?.subscription_id;
  const subscription = typeof given === "string" ? subscriptions.get(given) : undefined;
  if (subscription === undefined)
    throw new CommandError("no_such_subscription", "This socket has no subscription with this id.");
  subscriptions.delete(String(given));
  left.add(subscription.reading);
  subscription.reading.leave();
  await send(JSON.stringify({ type: "success", id, result: {} }));
}

/** The part of a reading that its subscriber is told the length of: a longer replay is read as it is sent. */
const COUNTED_UNITS_MAX = 1024 * 1024;

interface Replay {
  readonly pieces: readonly Piece[];
  readonly events: number;
  readonly isWhole: boolean;
  /** What ended the reading. */
  readonly failure?: { readonly error: unknown };
}

/** Reads a replay until the first live piece, within a limit. */
async function readReplay({ events }: Reading): Promise<Replay> {
  const pieces: Piece[] = [];
  let [count, units] = [0, 0];
  try {
    while (units < COUNTED_UNITS_MAX) {
      const { value, done } = await events.next();
      if (done === true) break;
      pieces.push(value);
      if (value.isLive) return { pieces, events: count, isWhole: true };
      count += value.events.length;
      for (const { text } of value.events) units += text.length;
    }
    return { pieces, events: count, isWhole: false };
  } catch (error) {
    return { pieces, events: count, isWhole: false, failure: { error } };
  }
}

/** Sends the events of a subscription until it ends. @param replay its part that is read already */
async function follow(
  { ports, subscriptions, left, send }: Session,
  subscription: Subscription,
  replay: Replay,
): Promise<void> {
  const { agent, socket } = ports;
  const { reading } = subscription;
  try {
    for await (const piece of chained(replay, reading.events)) {
      for (const { text } of firstCopies(subscription, subscriptions.values(), piece)) await send(text);
    }
    if (socket.readyState === WebSocket.OPEN && !left.has(reading))
      socket.close(CLOSED.deleted, "the thread was deleted");
  } catch (error) {
    if (error instanceof OutOfReach) return socket.close(CLOSED.lostRight, "access to the thread was lost");
    if (error instanceof CutOff) {
      if (!agent.events.stopped()) socket.close(CLOSED.overload, "the thread does not exist");
      return;
    }
    socket.close(CLOSED.fault, "internal error");
    toApiError(error, agent.log);
  }
}

async function* chained({ pieces, failure }: Replay, rest: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  yield* pieces;
  if (failure !== undefined) throw failure.error;
  yield* rest;
}

/** @throws {ApiError} `malformed_json` */
function parseFrame(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiError("malformed_json", "The frame is not JSON text.");
  }
}

function frameId(text: string): number | null {
  try {
    return readCommandId(JSON.parse(text));
  } catch {
    return null;
  }
}

function readCommandId(value: unknown): number | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : null;
  return typeof id === "number" && Number.isInteger(id) && id >= 0 ? id : null;
}

/** Resolves at once while little is unsent, else when it has left. */
function createSender(agent: AgentContext, socket: WebSocket): (text: string) => Promise<void> {
  return async (text) => {
    if (socket.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount < SEND_UNITS_MAX) {
      socket.send(text);
      return;
    }
    const cancel = agent.clock.after(STALL_MS, () => socket.close(CLOSED.overload, "the reader is too slow"));
    await new Promise<void>((resolve) => socket.send(text, () => resolve()));
    cancel();
  };
}

/** A peer that misses two pings is gone. */
function startPings(agent: AgentContext, socket: WebSocket): () => void {
  let missed = 0;
  let cancel: () => void = () => undefined;
  const ping = (): void => {
    if (missed >= 2) return socket.terminate();
    missed++;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
    cancel = agent.clock.after(PING_MS, ping);
  };
  socket.on("pong", () => void (missed = 0));
  cancel = agent.clock.after(PING_MS, ping);
  return () => cancel();
}
