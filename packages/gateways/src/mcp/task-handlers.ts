// Task handlers: `tasks/get`, `tasks/result` and `tasks/cancel` of one request.
import {
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { cancelAsked, findAsked, resultOfAsked, toTask } from "./ask-tasks.ts";
import type { AskCall } from "./ask-tools.ts";
import type { RunPlace } from "../calls/run-object.ts";
import { ApiRefusal, type OwnApi } from "../calls/own-api.ts";
import { cancelRun } from "../calls/start-run.ts";
import { taskAt, parseTaskPlace } from "./tasks.ts";

const PARAMS = z.looseObject({ taskId: z.string().max(200) });

/** The final result of the task; it asks the user of the client on the stream of this request. */
type ResultOfTask = (place: RunPlace, context: ServerContext) => Promise<JsonObject>;

interface TaskParts {
  readonly api: OwnApi;
  readonly askCall: (context: ServerContext) => AskCall;
  readonly resultOfTask: ResultOfTask;
}

export function setTaskHandlers(server: Server, { api, askCall, resultOfTask }: TaskParts): void {
  const schemas = { params: PARAMS };
  server.setRequestHandler("tasks/get", schemas, async ({ taskId }, context) => {
    const asked = await found(findAsked(askCall(context), taskId));
    return { ...(asked === null ? await found(taskAt(api, requirePlace(taskId))) : toTask(asked)) };
  });
  server.setRequestHandler("tasks/result", schemas, async ({ taskId }, context) => {
    const asked = await found(findAsked(askCall(context), taskId));
    const result =
      asked === null
        ? await found(resultOfTask(requirePlace(taskId), context))
        : await found(resultOfAsked(askCall(context), asked));
    return { ...result, _meta: { [RELATED_TASK_META_KEY]: { taskId } } };
  });
  server.setRequestHandler("tasks/cancel", schemas, async ({ taskId }, context) => {
    const asked = await found(findAsked(askCall(context), taskId));
    if (asked !== null) {
      if (asked.status !== "open") throw invalid(`The task is already ${toTask(asked).status}.`);
      return { ...(await found(cancelAsked(askCall(context), asked))) };
    }
    const place = requirePlace(taskId);
    const task = await found(taskAt(api, place));
    if (task.status !== "working")
      throw invalid(
        task.status === "input_required"
          ? "The task is paused for a person and has no active run to cancel."
          : `The task is already ${task.status}.`,
      );
    await cancelRun(api, place);
    return { ...(await taskAt(api, place)), status: "cancelled" };
  });
}

function requirePlace(taskId: string): RunPlace {
  const place = parseTaskPlace(taskId);
  if (place === null) throw invalid("Task not found.");
  return place;
}

async function found<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status < 500) throw invalid(`${error.message} (${error.code})`);
    throw error;
  }
}

function invalid(detail: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, detail);
}
