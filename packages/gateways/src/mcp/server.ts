// MCP server: the handlers of one request, over the official SDK.
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  Server,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { Clock } from "@holdpoint/base/clock.ts";
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";
import { configOfAssistant, configOfRun } from "../calls/assistant-config.ts";
import type { RunPlace } from "../calls/run-object.ts";
import { ApiRefusal, type OwnApi } from "../calls/own-api.ts";
import { startRun } from "../calls/start-run.ts";
import { createAskTask } from "./ask-tasks.ts";
import { APPROVE, ASK_HUMAN, type AskCall, type AskTool, callAskTool, findAskTool } from "./ask-tools.ts";
import type { AskedForms } from "./asked-forms.ts";
import { callAgent, callResume, finish, buildStart } from "./agent-calls.ts";
import { parseFacts } from "./client-facts.ts";
import { type Elicits, readElicits } from "./elicitation.ts";
import type { CallStream, ElicitReplies } from "./pause-legacy.ts";
import { findRepeatedCall } from "./pause-modern.ts";
import { startProgress } from "./progress.ts";
import type { RunningCalls } from "./running-calls.ts";
import { setTaskHandlers } from "./task-handlers.ts";
import { taskAt, formatTaskId } from "./tasks.ts";
import { errorResult, follow, type ToolCall } from "./tool-call.ts";
import { type Agent, findAgent, RESUME, RESUME_TOOL, type ToolPage, toolPage } from "./tools.ts";

export interface McpServerParts {
  readonly api: OwnApi;
  readonly asked: AskedForms;
  readonly caller: string;
  readonly publicUrl: string;
  readonly version: string;
  readonly sessionId: string | null;
  readonly replies: ElicitReplies;
  readonly running: RunningCalls;
  readonly clock: Clock;
  readonly progressEveryMs: number;
  /** Ends waits for people: the run stays paused. */
  readonly stopping: AbortSignal;
  /** Revisions of 2025. */
  readonly isLegacy: boolean;
}

const INSTRUCTIONS =
  "Each tool runs an agent. A run may pause for a person: the result then has the status `paused`, and names the thread, the open interrupts and a link.";

export function createMcpServer(parts: McpServerParts): Server {
  const server = new Server(
    { name: "holdpoint", version: parts.version },
    { capabilities: listCapabilities(parts), instructions: INSTRUCTIONS },
  );
  if (parts.isLegacy)
    setTaskHandlers(server, {
      api: parts.api,
      askCall: ({ mcpReq }) => buildAskCall(parts, mcpReq.signal),
      resultOfTask: (place, context) => resultOfTask(server, parts, place, context),
    });
  server.setRequestHandler("tools/list", async ({ params }) => {
    const offset = decodeCursor(params?.cursor);
    const { tools, next } = await refusable(toolPage(parts.api, offset).catch(withoutAgents));
    return {
      tools: [
        ...(offset === 0 ? [RESUME] : []),
        ...[...(offset === 0 ? [ASK_HUMAN, APPROVE] : []), ...tools].map((tool) =>
          parts.isLegacy ? asTask(tool) : tool,
        ),
      ],
      ...(next === null ? {} : { nextCursor: encodeCursor(next) }),
    };
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const args = (params.arguments ?? {}) as JsonObject;
    const base = {
      api: parts.api,
      asked: parts.asked,
      publicUrl: parts.publicUrl,
      signal: context.mcpReq.signal,
      stopping: parts.stopping,
      notes: [],
      forOthers: new Set<string>(),
    };
    try {
      if (params.name === RESUME_TOOL) return await callResume({ ...base, config: null }, args, configOfAssistant);
      const isTask = parts.isLegacy && (params as { readonly task?: unknown }).task !== undefined;
      const ask = findAskTool(params.name);
      if (ask !== null) return await (isTask ? askAsTask : askPeople)(parts, ask, args, context);
      const tool = await findAgent(parts.api, params.name);
      if (tool === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: "${params.name}".`);
      if (isTask) return await createTask(base.api, tool, args, context);
      return await callTool(server, parts, { ...base, config: tool.config }, { tool, args, context });
    } catch (error) {
      if (error instanceof ApiRefusal) return errorResult(`${error.message} (${error.code})`);
      throw error;
    }
  });
  return server;
}

/** A key that is limited to requests sees no assistants. */
function withoutAgents(error: unknown): ToolPage {
  if (error instanceof ApiRefusal && error.code === "forbidden") return { tools: [], next: null };
  throw error;
}

function buildAskCall({ api, caller, clock, asked, stopping }: McpServerParts, signal: AbortSignal): AskCall {
  return { api, caller, clock, marks: asked, signal: AbortSignal.any([signal, stopping]) };
}

async function askAsTask(parts: McpServerParts, tool: AskTool, args: JsonObject, { mcpReq }: ServerContext) {
  const task = await createAskTask(buildAskCall(parts, mcpReq.signal), tool, args);
  return typeof task === "string" ? errorResult(task) : { content: [], task };
}

async function askPeople(parts: McpServerParts, tool: AskTool, args: JsonObject, { mcpReq }: ServerContext) {
  const progress = startProgress({
    api: parts.api,
    clock: parts.clock,
    everyMs: parts.progressEveryMs,
    token: ((mcpReq._meta ?? {}) as JsonObject)["progressToken"],
    notify: (notification) => mcpReq.notify(notification),
    state: "The question waits for a person.",
  });
  const leave = parts.running.enter({ sessionId: parts.sessionId, requestId: mcpReq.id });
  const signal = AbortSignal.any([mcpReq.signal, leave.signal]);
  try {
    return await callAskTool(buildAskCall(parts, signal), tool, args);
  } catch (error) {
    if (!parts.stopping.aborted) throw error;
    return errorResult("The server stops. Call the tool again with the same arguments: the question stays.");
  } finally {
    progress.end();
    leave.end();
  }
}

async function callTool(
  server: Server,
  parts: McpServerParts,
  call: ToolCall,
  { tool, args, context }: { readonly tool: Agent; readonly args: JsonObject; readonly context: ServerContext },
) {
  const { mcpReq } = context;
  const meta = (mcpReq._meta ?? {}) as JsonObject;
  const progress = startProgress({
    api: call.api,
    clock: parts.clock,
    everyMs: parts.progressEveryMs,
    token: meta["progressToken"],
    notify: (notification) => mcpReq.notify(notification),
  });
  const legacy = parts.isLegacy ? { stream: openStream(server, context), replies: parts.replies } : null;
  const leave = parts.running.enter({ sessionId: parts.sessionId, requestId: mcpReq.id });
  const signal = AbortSignal.any([call.signal, leave.signal]);
  try {
    return await callAgent({ ...call, signal }, tool, {
      // A client of 2025 may lose its connection in a call; later revisions cancel a call by closing it.
      cancelOn: parts.isLegacy ? leave.signal : signal,
      args,
      meta,
      elicits: elicitsFor(parts, context),
      repeated: findRepeatedCall(mcpReq.requestState<string>(), mcpReq.inputResponses),
      legacy,
      onRun: progress.follow,
    });
  } finally {
    progress.end();
    leave.end();
  }
}

function listCapabilities({ isLegacy }: McpServerParts) {
  return {
    tools: { listChanged: true },
    ...(isLegacy ? { tasks: { cancel: {}, requests: { tools: { call: {} } } } } : {}),
  };
}

function asTask(tool: Tool): Tool {
  return { ...tool, execution: { taskSupport: "optional" } };
}

async function createTask(api: OwnApi, { assistantId }: Agent, args: JsonObject, { mcpReq }: ServerContext) {
  const place = await startRun(api, buildStart(assistantId, args, (mcpReq._meta ?? {}) as JsonObject));
  return { content: [], task: await taskAt(api, place) };
}

async function resultOfTask(
  server: Server,
  parts: McpServerParts,
  place: RunPlace,
  context: ServerContext,
): Promise<JsonObject> {
  const { api, asked: forms, publicUrl, replies, stopping } = parts;
  const call = {
    api,
    asked: forms,
    publicUrl,
    signal: context.mcpReq.signal,
    stopping,
    notes: [],
    forOthers: new Set<string>(),
    config: await configOfRun(api, place),
  };
  const stream = openStream(server, context, { [RELATED_TASK_META_KEY]: { taskId: formatTaskId(place) } });
  const outcome = await follow(call, place);
  const asked = { elicits: elicitsFor(parts, context), legacy: { stream, replies } };
  return (await finish(call, outcome, asked, new Map())) as unknown as JsonObject;
}

/** The capability of the request itself, otherwise that of the session. */
function elicitsFor({ sessionId }: McpServerParts, { mcpReq }: ServerContext): Elicits {
  const own = ((mcpReq.envelope ?? {}) as JsonObject)[CLIENT_CAPABILITIES_META_KEY];
  return isJsonObject(own) ? readElicits(own["elicitation"]) : parseFacts(sessionId).elicits;
}

/** @param meta of the requests that the server sends */
function openStream(server: Server, { mcpReq }: ServerContext, meta: JsonObject | null = null): CallStream {
  const related = { relatedRequestId: mcpReq.id };
  return {
    async request(id, method, params) {
      const sent = { ...params, ...(meta === null ? {} : { _meta: meta }) };
      await server.transport?.send({ jsonrpc: "2.0", id, method, params: sent }, related);
    },
    async notify(method, params) {
      await server.transport?.send({ jsonrpc: "2.0", method, params: { ...params } }, related);
    },
  };
}

/** A refusal of the API as an error of the protocol. */
async function refusable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiRefusal)
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `${error.message} (${error.code})`);
    throw error;
  }
}

function encodeCursor(offset: number): string {
  return Buffer.from(String(offset)).toString("base64url");
}

function decodeCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const offset = Number(Buffer.from(cursor, "base64url").toString());
  if (Number.isInteger(offset) && offset > 0 && offset < 1e9) return offset;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "The cursor is not from a reply of this server.");
}
