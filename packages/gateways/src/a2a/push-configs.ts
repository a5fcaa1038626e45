// Push configs: push notification configurations of the protocol as webhooks of the API, which signs and checks every
// delivery. Credentials go in and never come out.
import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import type { RunWebhookObject } from "@holdpoint/api/runs.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { OwnApi } from "../calls/own-api.ts";
import { refusable } from "./refusals.ts";
import type { TaskRuns } from "./task-runs.ts";

export type PushMethods = Pick<
  A2ARequestHandler,
  | "createTaskPushNotificationConfig"
  | "getTaskPushNotificationConfig"
  | "listTaskPushNotificationConfigs"
  | "deleteTaskPushNotificationConfig"
>;

export interface PushParts {
  readonly api: OwnApi;
  readonly found: (taskId: string) => Promise<TaskRuns>;
  /** Version of the caller: it gets events in its version of the protocol. */
  readonly isLegacy: boolean;
}

export function pushMethods({ api, found, isLegacy }: PushParts): PushMethods {
  const findWebhooksPath = async (taskId: string): Promise<string> => {
    const { contextId, taskId: runId } = await found(taskId);
    return `/threads/${contextId}/runs/${runId}/webhooks`;
  };
  const list = async (taskId: string): Promise<readonly RunWebhookObject[]> =>
    (await refusable(api.call("GET", await findWebhooksPath(taskId)))) as unknown as readonly RunWebhookObject[];
  return {
    async createTaskPushNotificationConfig(config) {
      const body = toWebhook(config, isLegacy);
      const added = await refusable(api.call("POST", await findWebhooksPath(config.taskId), { body }));
      return { ...config, id: (added as unknown as RunWebhookObject).webhook_id };
    },
    async getTaskPushNotificationConfig({ taskId, id }) {
      const webhooks = await list(taskId);
      const webhook = id === "" ? webhooks[0] : webhooks.find((one) => one.webhook_id === id);
      if (webhook === undefined) throw new RequestMalformedError(`The task has no push notification config ${id}.`);
      return toPushConfig(taskId, webhook);
    },
    async listTaskPushNotificationConfigs({ taskId }) {
      return { configs: (await list(taskId)).map((webhook) => toPushConfig(taskId, webhook)), nextPageToken: "" };
    },
    async deleteTaskPushNotificationConfig({ taskId, id }) {
      await refusable(api.call("DELETE", `${await findWebhooksPath(taskId)}/${encodeURIComponent(id)}`));
    },
  };
}

/** A config of a message, or of a call, as a webhook. */
export function toWebhook(
  { id, url, token, authentication }: TaskPushNotificationConfig,
  isLegacy: boolean,
): JsonObject {
  const scheme = authentication?.scheme ?? "";
  const headers: Record<string, Json> = {
    ...(token === "" ? {} : { "X-A2A-Notification-Token": token }),
    ...(scheme === "" ? {} : { Authorization: `${scheme} ${authentication?.credentials ?? ""}`.trim() }),
  };
  return { url, format: isLegacy ? "a2a_0.3" : "a2a", headers, ...(id === "" ? {} : { webhook_id: id }) };
}

function toPushConfig(taskId: string, { webhook_id: id, url }: RunWebhookObject): TaskPushNotificationConfig {
  return { tenant: "", id, taskId, url, token: "", authentication: undefined };
}
