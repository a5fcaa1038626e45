// Store: the long-term memory, its rows in storage, and the function that makes vectors.
import type { FilterCondition } from "../../base/json/json-filter.ts";
import type { JsonObject } from "../../base/json/json.ts";
import type { Scope, StoreItem, StoreVector } from "../model/model.ts";
import type { Awaitable } from "./awaitable.ts";

export interface StoreQuery {
  /** Items of this namespace and of those below it. */
  readonly prefix: readonly string[];
  readonly filter: readonly FilterCondition[];
  /** Ranks by likeness to this, and leaves out what has no vector; null: newest first. */
  readonly vector: Float32Array | null;
  readonly limit: number;
  readonly offset: number;
  /** Items and vectors that one search may look at. */
  readonly lookMax: number;
  readonly at: number;
}

export interface FoundItem extends StoreItem {
  /** Cosine of the angle to the query's vector; null when there was none. */
  readonly score: number | null;
}

export interface NamespaceQuery {
  /** Labels, `*` for any one. */
  readonly prefix: readonly string[];
  readonly suffix: readonly string[];
  /** Namespaces are cut off after so many labels, and listed once. */
  readonly depthMax: number | null;
  readonly limit: number;
  readonly offset: number;
  readonly lookMax: number;
  readonly at: number;
}

/** The long-term memory's verbs. What has expired by `at` is not there, though it may still be on disk. */
export interface StoreTx {
  storeItem(namespace: readonly string[], key: string, at: number): Awaitable<StoreItem | null>;
  /** In the place of what was there, vectors too. */
  putStoreItem(item: StoreItem, vectors: readonly StoreVector[]): Awaitable<void>;
  deleteStoreItem(namespace: readonly string[], key: string): Awaitable<void>;
  /** Their time to live, where they have one, begins anew. */
  refreshStoreItems(items: readonly Pick<StoreItem, "namespace" | "key">[], at: number): Awaitable<void>;
  /** @returns null when more than `lookMax` would have to be looked at. */
  searchStore(query: StoreQuery): Awaitable<readonly FoundItem[] | null>;
  /** In an order that stays the same. @returns null when more than `lookMax` would have to be looked at. */
  storeNamespaces(query: NamespaceQuery): Awaitable<readonly (readonly string[])[] | null>;
  /** @returns how many were deleted, at most `limit`. */
  deleteExpiredStoreItems(at: number, limit: number): Awaitable<number>;
}

export interface StorePut {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  /** Fields to make vectors of; false: none; null: those of the configuration. */
  readonly index: false | readonly string[] | null;
  /** null: no end; undefined: that of the configuration. */
  readonly ttlMs: number | null | undefined;
  readonly scope?: Scope;
}

export interface StoreSearch {
  readonly prefix: readonly string[];
  readonly filter: JsonObject;
  /** In words; ranks by meaning when the server has an embedding function, and is passed over when it has none. */
  readonly query: string | null;
  readonly limit: number;
  readonly offset: number;
  /** Whether finding an item counts as a use of it; null: as configured. */
  readonly refreshTtl: boolean | null;
  readonly scope?: Scope;
}

export type NamespaceSearch = Pick<NamespaceQuery, "prefix" | "suffix" | "depthMax" | "limit" | "offset"> & {
  readonly scope?: Scope;
};

/**
 * The long-term memory, as HTTP calls and graphs use it: one set of rules for both. Graphs have no scope.
 * @throws {ApiError} `store_namespace_invalid`, `store_item_invalid`, `store_item_too_large`, `store_filter_invalid`,
 * `store_search_too_broad`, `embedding_failed`, with a scope also `forbidden`, from whichever call they fit.
 */
export interface Store {
  get(namespace: readonly string[], key: string, refreshTtl: boolean | null, scope?: Scope): Promise<StoreItem | null>;
  /** Resolves once it is on disk. */
  put(request: StorePut): Promise<void>;
  delete(namespace: readonly string[], key: string, scope?: Scope): Promise<void>;
  search(request: StoreSearch): Promise<readonly FoundItem[]>;
  listNamespaces(request: NamespaceSearch): Promise<readonly (readonly string[])[]>;
}

/** The deployment's embedding function. */
export interface Embedder {
  /** Numbers in a vector. */
  readonly dims: number;
  /** One vector a text, in their order. Rejects with what the function threw, or a reason. */
  embed(texts: readonly string[], as: "item" | "query"): Promise<readonly Float32Array[]>;
}
