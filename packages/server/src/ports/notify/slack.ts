// Slack port: calls of Slack's Web API with the token of the app.
import type { JsonObject } from "@holdpoint/base/json/json.ts";

export type SlackMethod =
  | "auth.test"
  | "chat.postEphemeral"
  | "chat.postMessage"
  | "chat.update"
  | "users.info"
  | "users.lookupByEmail"
  | "views.open";

export type SlackOutcome =
  | { readonly kind: "ok"; readonly body: JsonObject }
  /** A retry cannot succeed: Slack names the reason, such as `channel_not_found`. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Over the rate limit: no call of the app before then. */
  | { readonly kind: "limited"; readonly afterMs: number }
  | { readonly kind: "failed"; readonly reason: string };

export interface SlackApi {
  /** Host and port of the API. */
  readonly host: string;
  /** Never throws. */
  call(method: SlackMethod, body: JsonObject, signal: AbortSignal): Promise<SlackOutcome>;
}
