// LangGraph store: LangGraph's BaseStore over the store of the server, for graphs.
// Invariants:
//   langgraph-store.1. A run's config carries this store, which replaces one the graph was compiled with; the graph
//        stays unchanged.
//   langgraph-store.2. A put is on disk when its promise resolves.
//   langgraph-store.3. Values are plain JSON: a value without a JSON form fails, and is never omitted or revived as
//        something else.
//   plain-json.1. No silent loss: a value that JSON.stringify omits or turns into null is an error, except undefined
//        members.
//   plain-json.2. The copy shares nothing with the value.
import type {
  BaseStore,
  GetOperation,
  ListNamespacesOperation,
  Operation,
  PutOperation,
  SearchOperation,
} from "@langchain/langgraph";
import type { FoundItem, Store } from "../../ports/ports.ts";
import type { StoreItem } from "../../model/model.ts";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import { type Json, type JsonObject, fitsDepth } from "@holdpoint/base/json/json.ts";
import type { Library } from "../langgraph/library.ts";

const LIMIT = 10;
const MINUTE_MS = 60_000;

/** @returns a BaseStore of LangGraph's own class */
export function createGraphStore(library: Library, store: Store): BaseStore {
  const { BaseStore: Base, AsyncBatchedStore } = library.langgraph;
  letOursThrough(AsyncBatchedStore.prototype);
  const batch = (operations: readonly Operation[]): Promise<unknown[]> =>
    Promise.all(operations.map((operation) => act(store, operation)));
  return Object.assign(Object.create(Base.prototype) as object, { batch, [DIRECT]: true }) as unknown as BaseStore;
}

type Put = PutOperation & { readonly ttl?: number | null };

function act(store: Store, operation: Operation): Promise<unknown> {
  if ("namespacePrefix" in operation) return search(store, operation);
  if ("value" in operation) return put(store, operation);
  if ("key" in operation) return get(store, operation);
  return list(store, operation);
}

async function get(store: Store, { namespace, key }: GetOperation): Promise<unknown> {
  const item = await store.get(namespace, key, null);
  return item === null ? null : toItem(item);
}

async function put(store: Store, { namespace, key, value, index, ttl }: Put): Promise<void> {
  if (value === null) return store.delete(namespace, key);
  const ttlMs = typeof ttl === "number" ? Math.ceil(ttl * MINUTE_MS) : ttl;
  await store.put({ namespace, key, value: plain(value), index: index ?? null, ttlMs });
}

/** langgraph-store.3. Encoded at once, so later changes by the node are not in the store. */
function plain(value: unknown): JsonObject {
  try {
    return toPlainJson(value) as JsonObject;
  } catch (error) {
    throw new ApiError(
      "store_item_invalid",
      `The value cannot be represented as JSON: ${describeError(error).message}.`,
    );
  }
}

async function search(store: Store, operation: SearchOperation): Promise<unknown> {
  const found = await store.search({
    prefix: operation.namespacePrefix,
    filter: operation.filter ?? {},
    query: operation.query ?? null,
    limit: operation.limit ?? LIMIT,
    offset: operation.offset ?? 0,
    refreshTtl: null,
  });
  return Array.fromAsync(found, (item: FoundItem) => ({
    ...toItem(item),
    ...(item.score === null ? {} : { score: item.score }),
  }));
}

async function list(store: Store, operation: ListNamespacesOperation): Promise<unknown> {
  const { matchConditions = [], maxDepth, limit, offset } = operation;
  const readMatchPath = (type: "prefix" | "suffix"): readonly string[] => {
    const [first, second] = matchConditions.filter(({ matchType }) => matchType === type);
    if (second !== undefined) throw new ApiError("store_namespace_invalid", `Only one ${type} is possible.`);
    return first?.path ?? [];
  };
  const found = await store.listNamespaces({
    prefix: readMatchPath("prefix"),
    suffix: readMatchPath("suffix"),
    depthMax: maxDepth ?? null,
    limit,
    offset,
  });
  return found.map((labels) => [...labels]);
}

function toItem({ namespace, key, value, createdAt, updatedAt }: StoreItem): object {
  return { namespace: [...namespace], key, value, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}

const DIRECT = Symbol("holdpoint store");
const CALLS = ["batch", "get", "put", "delete", "search", "listNamespaces"] as const;

interface Wrapper {
  readonly store: Partial<Record<(typeof CALLS)[number] | typeof DIRECT, unknown>>;
  running: boolean;
  start: () => void;
}

/**
 * LangGraph wraps a run's store in one that batches calls and polls every millisecond while the graph runs. It drops a
 * put's `index` and has no `batch` and `listNamespaces`. Our storage batches by itself: the wrapper around our store
 * passes every call on. Other stores keep the wrapper.
 */
function letOursThrough(prototype: object): void {
  const wrapper = prototype as Wrapper & { [DIRECT]?: true };
  if (wrapper[DIRECT] === true) return;
  const { start } = wrapper;
  wrapper[DIRECT] = true;
  wrapper.start = function (this: Wrapper) {
    const { store } = this;
    if (store[DIRECT] !== true) return start.call(this);
    this.running = true;
    for (const name of CALLS) {
      const method = store[name] as (...parameters: unknown[]) => unknown;
      Object.assign(this, { [name]: method.bind(store) });
    }
  };
}

// A live value → a pure JSON copy, or the reason why it has none.

const LEVELS_MAX = 500;

/** Objects with a toJSON, such as dates and messages, become its result. @throws {Error} with the reason. */
export function toPlainJson(value: unknown): Json {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseLosses);
  } catch (error) {
    if (error instanceof RangeError) throw new Error("nested too deeply", { cause: error });
    throw error;
  }
  const copy = JSON.parse(text) as Json; // refuseLosses guarantees a text
  if (!fitsDepth(copy, LEVELS_MAX)) throw new Error(`nested more than ${LEVELS_MAX} levels deep`);
  return copy;
}

/** @param value after its toJSON */
function refuseLosses(this: unknown, key: string, value: unknown): unknown {
  const where = key === "" ? "it" : `"${key}"`;
  if (typeof value === "undefined" && (key === "" || Array.isArray(this))) throw new Error(`${where} is undefined`);
  if (typeof value === "function" || typeof value === "symbol") throw new Error(`${where} is a ${typeof value}`);
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`${where} is ${value}`);
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) {
    throw new Error(`${where} is a ${value.constructor.name}`);
  }
  return value; // JSON.stringify itself rejects a bigint or a cycle
}
