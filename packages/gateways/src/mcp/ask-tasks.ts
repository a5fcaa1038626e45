// Ask tasks: a call of `ask_human` or `approve` as a task, revision 2025-11-25. The task is the request, under its id.
// Invariants:
//   - A task's status is that of its request: nothing else is stored about it.
//   - Only requests of these two tools are tasks, and those of another caller are not there: to hand out an end, or to
//     cancel, is the asker's.
import type { CallToolResult, Task } from "@modelcontextprotocol/server";
import type { RequestObject } from "@holdpoint/api/requests.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { APPROVE, ASK_HUMAN, type AskCall, type AskTool, askRequest, readEnd, findAskTool } from "./ask-tools.ts";

const POLL_MS = 1000;

/** @returns a text for wrong arguments @throws {ApiRefusal} */
export async function createAskTask(call: AskCall, tool: AskTool, args: JsonObject): Promise<Task | string> {
  const asked = await askRequest(call, tool, args);
  return typeof asked === "string" ? asked : toTask(asked);
}

/** Null for an id of another task. @throws {ApiRefusal} */
export async function findAsked({ api, caller }: AskCall, taskId: string): Promise<RequestObject | null> {
  if (!isUuid(taskId)) return null;
  const request = (await api.call("GET", `/requests/${taskId}`, {})) as unknown as RequestObject;
  const isOwn = caller === "" || request.requested_by === caller;
  return isOwn && typeof request.metadata["asked_as"] === "string" ? request : null;
}

/** A person answers elsewhere, so the client has nothing to give: it is working. */
export function toTask({ request_id: taskId, status, created_at: createdAt, ended_at: endedAt }: RequestObject): Task {
  return {
    taskId,
    status:
      status === "open"
        ? "working"
        : status === "answered"
          ? "completed"
          : status === "expired"
            ? "failed"
            : "cancelled",
    ttl: null,
    createdAt,
    lastUpdatedAt: endedAt ?? createdAt,
    pollInterval: POLL_MS,
  };
}

/** The result of the call, at the end of the request. @throws {ApiRefusal} */
export async function resultOfAsked(call: AskCall, request: RequestObject): Promise<CallToolResult> {
  const asked = request.payload as Json;
  const payload: JsonObject = isJsonObject(asked) ? asked : {};
  const [action] = (payload["action_requests"] ?? []) as readonly JsonObject[];
  const tool = findAskTool(action === undefined ? ASK_HUMAN.name : APPROVE.name);
  if (tool === null) throw new Error("a tool that asks people is missing");
  return readEnd(call, tool, request);
}

export async function cancelAsked({ api }: AskCall, { request_id: id }: RequestObject): Promise<Task> {
  const cancelled = await api.call("POST", `/requests/${id}/cancel`, { body: {} });
  return toTask(cancelled as unknown as RequestObject);
}
