// Storage port for assistants and their versions.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Assistant, AssistantVersion, Scope } from "../model/model.ts";
import type { Awaitable, SizedId } from "@holdpoint/base/awaitable.ts";

export interface AssistantFilter {
  readonly scope: Scope;
  readonly graphIds: readonly string[];
  /** Substring of the name, case-insensitive. */
  readonly name: string | null;
  readonly metadata: JsonObject | null;
}

export interface AssistantQuery extends AssistantFilter {
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: "assistant_id" | "graph_id" | "name" | "created_at" | "updated_at";
  readonly descending: boolean;
}

export interface AssistantVersionQuery {
  readonly metadata: JsonObject | null;
  readonly limit: number;
  readonly offset: number;
}

export interface AssistantTx {
  /** @param toChange locks the row until the commit. */
  assistant(assistantId: string, toChange?: boolean): Awaitable<Assistant | null>;
  /** Ids of a page, in order, with the size of each row. */
  searchAssistants(query: AssistantQuery): Awaitable<readonly SizedId[]>;
  countAssistants(query: AssistantFilter): Awaitable<number>;
  /** Counts the assistants of all graphs, including graphs that are not deployed. */
  countAllAssistants(): Awaitable<number>;
  insertAssistant(assistant: Assistant): Awaitable<void>;
  updateAssistant(assistantId: string, patch: Partial<Assistant>): Awaitable<void>;
  /** Deletes the assistant and its versions without a check for runs. */
  deleteAssistant(assistantId: string): Awaitable<void>;
  /** Numbers of a page, newest first, with the size of each row. */
  assistantVersions(assistantId: string, query: AssistantVersionQuery): Awaitable<readonly SizedId<number>[]>;
  assistantVersion(assistantId: string, version: number): Awaitable<AssistantVersion | null>;
  /** 0 if the assistant has no version. */
  newestAssistantVersion(assistantId: string): Awaitable<number>;
  insertAssistantVersion(version: AssistantVersion): Awaitable<void>;
  deleteAssistantVersionsBefore(assistantId: string, version: number): Awaitable<void>;
}
