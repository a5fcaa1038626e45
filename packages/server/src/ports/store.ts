// Ports of the long-term memory: the store, its rows in storage, and the embedder.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Caller, Scope, StoreItem, StoreVector } from "../model/model.ts";
import type { TenantTx } from "./tenants.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

/** Place in the order of a list: newest first. */
export type StorePlace = readonly [updatedAt: number, itemId: number];

export interface StorePage {
  /** Matches items of this namespace and of nested namespaces. */
  readonly prefix: readonly string[];
  /** Null for the first page. */
  readonly after: StorePlace | null;
  readonly limit: number;
  readonly at: number;
}

export interface StoreRanking {
  readonly prefix: readonly string[];
  readonly vector: Float32Array;
  /** Maximum number of vectors that the search may read. */
  readonly scanMax: number;
  readonly at: number;
}

/** An item without its value. */
export interface StoreRef extends Pick<StoreItem, "namespace" | "key" | "ttlMs"> {
  /** A replaced item gets another one. */
  readonly itemId: number;
  /** Size of its value, as JSON. */
  readonly bytes: number;
  /** Cosine similarity to the query vector; null without one. */
  readonly score: number | null;
}

/** A page of items, newest first. */
export interface StoreRefs {
  readonly refs: readonly StoreRef[];
  /** Null at the end. */
  readonly next: StorePlace | null;
}

export interface FoundItem extends StoreItem {
  /** Cosine similarity to the query vector; null without one. */
  readonly score: number | null;
}

export interface NamespaceQuery {
  /** Labels; `*` matches any label. */
  readonly prefix: readonly string[];
  readonly suffix: readonly string[];
  /** Truncates namespaces to this many labels, without duplicates. */
  readonly depthMax: number | null;
  readonly limit: number;
  readonly offset: number;
  readonly scanMax: number;
  readonly at: number;
}

/** Rows of the long-term memory. Items expired at `at` are invisible, even if still on disk. */
export interface StoreTx {
  storeItem(namespace: readonly string[], key: string, at: number): Awaitable<StoreItem | null>;
  /** Replaces the item and its vectors. */
  putStoreItem(item: StoreItem, vectors: readonly StoreVector[]): Awaitable<void>;
  deleteStoreItem(namespace: readonly string[], key: string): Awaitable<void>;
  /** Restarts the time to live of items that have one. */
  refreshStoreItems(items: readonly Pick<StoreItem, "namespace" | "key">[], at: number): Awaitable<void>;
  newestStoreItems(page: StorePage): Awaitable<StoreRefs>;
  /** Items with a vector, best first. @returns null if the search would read more than `scanMax` vectors */
  nearestStoreItems(query: StoreRanking): Awaitable<readonly StoreRef[] | null>;
  /** By item id, without those that were replaced or deleted. */
  storeItems(itemIds: readonly number[], at: number): Awaitable<ReadonlyMap<number, StoreItem>>;
  /** Stable order. @returns null if the search would read more than `scanMax` */
  storeNamespaces(query: NamespaceQuery): Awaitable<readonly (readonly string[])[] | null>;
  /** @returns the number deleted, at most `limit` */
  deleteExpiredStoreItems(at: number, limit: number): Awaitable<number>;
}

export interface StorePut {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  /** Fields to embed; false: none; null: the configured fields. */
  readonly index: false | readonly string[] | null;
  /** null: no expiry; undefined: the configured time to live. */
  readonly ttlMs: number | null | undefined;
  readonly scope?: Scope;
  /** Whose limits the item counts for. */
  readonly tenant?: { readonly name: string; admitBytes(tx: TenantTx): Promise<void> } | undefined;
}

export interface StoreSearch {
  readonly prefix: readonly string[];
  readonly filter: JsonObject;
  /** Natural-language query; ranks by meaning if the server has an embedding function, and is ignored otherwise. */
  readonly query: string | null;
  readonly limit: number;
  readonly offset: number;
  /** True if a match restarts the time to live; null: as configured. */
  readonly refreshTtl: boolean | null;
  readonly scope?: Scope;
}

export type NamespaceSearch = Pick<NamespaceQuery, "prefix" | "suffix" | "depthMax" | "limit" | "offset"> & {
  readonly scope?: Scope;
};

/**
 * The long-term memory with one set of rules for HTTP calls and graphs. Graphs have no scope.
 * @throws {ApiError} `store_namespace_invalid`, `store_item_invalid`, `store_item_too_large`, `store_filter_invalid`,
 *   `store_search_too_broad`, `embedding_failed`, and with a scope `forbidden`
 */
export interface Store {
  get(namespace: readonly string[], key: string, refreshTtl: boolean | null, scope?: Scope): Promise<StoreItem | null>;
  /** Resolves once the item is durable. */
  put(request: StorePut): Promise<void>;
  /** @param given an author makes the deletion an act in the audit trail: those of graphs are none */
  delete(
    namespace: readonly string[],
    key: string,
    given?: { readonly scope?: Scope; readonly author?: Caller | null },
  ): Promise<void>;
  /** Values are read on demand: each item appears in its state at that moment, and only while it matches. */
  search(request: StoreSearch): Promise<AsyncIterable<FoundItem>>;
  listNamespaces(request: NamespaceSearch): Promise<readonly (readonly string[])[]>;
}

/** Embedding function of the deployment. */
export interface Embedder {
  /** Length of a vector. */
  readonly dims: number;
  /** One vector per text, in order. Rejects with the error of the function, or with a reason. */
  embed(texts: readonly string[], as: "item" | "query"): Promise<readonly Float32Array[]>;
}
