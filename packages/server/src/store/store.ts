// Store: the long-term memory shared by HTTP calls and graphs, with validation, expiry and embeddings.
// Invariants:
//   - A put is durable when its call resolves; a refused call changes nothing.
//   store.2. The embedding function runs before the transaction, so that its failure leaves the item unchanged.
//   - An item keeps its created_at until it is deleted.
//   - Every property of an item is bounded: labels, depth, key, size, vectors. A search that would exceed its
//     limit is refused.
//   store.5. Reads go on while the storage takes no writes: an expiry that a read cannot extend stays as it is.
import type { Clock } from "@holdpoint/base/clock.ts";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import { parseFilter, type FilterCondition } from "@holdpoint/base/json/json-filter.ts";
import { exceedsBytes } from "@holdpoint/base/json/json-size.ts";
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";
import { isStorageFailure } from "@holdpoint/base/storage-failure.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { StoreItem, StoreVector } from "../model/model.ts";
import type { Embedder, FoundItem, NamespaceSearch, Storage, Store, StorePut, StoreSearch } from "../ports/ports.ts";
import { COMPARE_MAX, findItems, SCAN_MAX, readItems, type StoreQuery } from "./search-store.ts";
import { itemInScope, namespaceInScope, SCOPED_SCAN_MAX, scopedRows } from "./store-scope.ts";
import { textsAt, type IndexedText } from "@holdpoint/base/json/json-path.ts";

export interface StoreOptions {
  readonly itemBytesMax: number;
  readonly defaultTtlMs: number | null;
  readonly refreshOnRead: boolean;
  readonly sweepEveryMs: number;
  /** Fields to embed if a put names none. */
  readonly fields: readonly string[];
}

export interface StorePorts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  /** Null without an embedding function. */
  readonly embedder: Embedder | null;
}

const VECTORS_PER_ITEM_MAX = 100;
const SWEEP_BATCH = 500;
const EMBED_TIMEOUT_MS = 60_000;

/** After start() it periodically deletes expired items. */
export function createStore(options: StoreOptions, ports: StorePorts): Store & Service {
  const { storage, clock, log, embedder } = ports;
  const embedTexts = async (request: StorePut): Promise<readonly StoreVector[]> => {
    if (embedder === null || request.index === false) return [];
    const texts = selectTexts(request.value, request.index ?? options.fields);
    const vectors = await embed(
      embedder,
      texts.map(({ text }) => text),
      "item",
      clock,
    );
    return texts.map(({ field }, at) => ({ field, vector: vectors[at] ?? new Float32Array() }));
  };
  let cancel: () => void = () => undefined;
  let stopped = false;
  const sweepAndGoOn = (): void => {
    sweep(storage, clock)
      .then(
        (deleted) => deleted > 0 && log.info("store_items_expired", { items: deleted }),
        (error: unknown) => log.warning("sweep_failed", { reason: describeError(error).message }),
      )
      .finally(() => {
        if (!stopped) cancel = clock.after(options.sweepEveryMs, sweepAndGoOn);
      });
  };
  return {
    async get(namespace, key, refreshTtl, scope = null) {
      checkNamespace(namespace);
      checkKey(key);
      const at = clock.now();
      const item = await storage.read((tx) => tx.storeItem(namespace, key, at));
      if (item === null || !itemInScope(item, scope)) return null;
      if (refreshTtl ?? options.refreshOnRead) await refresh(storage, [item], at);
      return item;
    },
    async put(request) {
      const { namespace, key, value, tenant } = request;
      checkNamespace(namespace);
      checkKey(key);
      checkValue(value, options.itemBytesMax);
      const scope = request.scope ?? null;
      if (!itemInScope(request, scope)) throw outOfScope();
      const vectors = await embedTexts(request); // store.2
      const ttlMs = request.ttlMs === undefined ? options.defaultTtlMs : request.ttlMs;
      await storage.transaction(async (tx) => {
        await tenant?.admitBytes(tx);
        const at = clock.now();
        const before = await tx.storeItem(namespace, key, at);
        if (before !== null && !itemInScope(before, scope)) throw outOfScope();
        const createdAt = before?.createdAt ?? at;
        const expiresAt = ttlMs === null ? null : at + ttlMs;
        await tx.putStoreItem({ namespace, key, value, createdAt, updatedAt: at, ttlMs, expiresAt }, vectors);
        if (tenant !== undefined) await tx.ownStoreItem(namespace, key, tenant.name);
      });
    },
    async delete(namespace, key, { scope = null, author = null } = {}) {
      checkNamespace(namespace);
      checkKey(key);
      await storage.transaction(async (tx) => {
        const at = clock.now();
        const item = scope === null && author === null ? null : await tx.storeItem(namespace, key, at);
        if (item !== null && !itemInScope(item, scope)) return;
        await tx.deleteStoreItem(namespace, key);
        if (author === null || item === null) return;
        const fields = { namespace, key };
        await tx.audit([buildAct(author, { action: "store_item_deleted", at, subject: key, fields })]);
      });
    },
    search: (request) => search(request, options, ports),
    listNamespaces: (request) => listNamespaces(request, ports),
    name: "store",
    async start() {
      cancel = clock.after(options.sweepEveryMs, sweepAndGoOn);
    },
    async stop() {
      stopped = true;
      cancel();
    },
  };
}

async function search(
  request: StoreSearch,
  options: StoreOptions,
  { storage, clock, embedder }: StorePorts,
): Promise<AsyncIterable<FoundItem>> {
  checkLabels(request.prefix);
  const { prefix, limit, offset, scope = null } = request;
  const filter = toStoreFilter(request.filter);
  const asked = embedder === null || request.query === null ? null : [request.query];
  const [vector = null] = asked === null || embedder === null ? [] : await embed(embedder, asked, "query", clock);
  const search = { prefix, filter, vector, limit, offset, scope };
  const at = clock.now();
  const found = (await findItems(storage, search, at)) ?? tooBroad(search);
  if (request.refreshTtl ?? options.refreshOnRead) await refresh(storage, found, at);
  return readItems(storage, found, search, () => clock.now());
}

/** Extends the expiry of items that have one (store.5). */
async function refresh(
  storage: Storage,
  items: readonly Pick<StoreItem, "namespace" | "key" | "ttlMs">[],
  at: number,
): Promise<void> {
  const fleeting = items.filter(({ ttlMs }) => ttlMs !== null);
  if (fleeting.length === 0) return;
  try {
    await storage.transaction((tx) => tx.refreshStoreItems(fleeting, at));
  } catch (error) {
    if (!isStorageFailure(error)) throw error;
  }
}

async function listNamespaces(
  request: NamespaceSearch,
  { storage, clock }: StorePorts,
): Promise<readonly (readonly string[])[]> {
  checkLabels(request.prefix);
  checkLabels(request.suffix);
  const { scope = null, limit, offset, ...wanted } = request;
  const search = { ...wanted, scanMax: SCAN_MAX, at: clock.now() };
  const page = (count: number, from: number) =>
    storage.longReads.storeNamespaces({ ...search, limit: count, offset: from });
  const fits = (namespace: readonly string[]): boolean => namespaceInScope(namespace, scope);
  const found = await (scope === null ? page(limit, offset) : scopedRows({ limit, offset, fits, page }));
  return found ?? refuseBroad(`${scope === null ? SCAN_MAX : SCOPED_SCAN_MAX} namespaces`);
}

/** In batches, so that other transactions run in between. @returns the number of deleted items */
async function sweep(storage: Storage, clock: Clock): Promise<number> {
  for (let deleted = 0; ;) {
    const count = await storage.transaction((tx) => tx.deleteExpiredStoreItems(clock.now(), SWEEP_BATCH));
    deleted += count;
    if (count < SWEEP_BATCH) return deleted;
  }
}

function outOfScope(): ApiError {
  return new ApiError("forbidden", "The caller may not write this item.");
}

function tooBroad({ vector, scope }: StoreQuery): never {
  if (vector !== null) refuseBroad(`${COMPARE_MAX} vectors`);
  refuseBroad(`${scope === null ? SCAN_MAX : SCOPED_SCAN_MAX} items`);
}

function refuseBroad(limit: string): never {
  const detail = `The search would read more than ${limit}: use a longer namespace prefix.`;
  throw new ApiError("store_search_too_broad", detail);
}

function checkValue(value: JsonObject, bytesMax: number): void {
  if (!isJsonObject(value)) throw new ApiError("store_item_invalid", "value must be an object.");
  if (!exceedsBytes(value, bytesMax)) return;
  const detail = `The value has more than ${bytesMax} bytes as JSON.`;
  throw new ApiError("store_item_too_large", detail);
}

function toStoreFilter(filter: JsonObject): readonly FilterCondition[] {
  try {
    return parseFilter(filter);
  } catch (error) {
    throw new ApiError("store_filter_invalid", `${describeError(error).message}.`);
  }
}

function selectTexts(value: JsonObject, fields: readonly string[]): readonly IndexedText[] {
  let texts: readonly IndexedText[];
  try {
    texts = fields.flatMap((field) => textsAt(value, field));
  } catch (error) {
    throw new ApiError("store_item_invalid", `index: ${describeError(error).message}.`);
  }
  if (texts.length <= VECTORS_PER_ITEM_MAX) return texts;
  const detail = `The indexed fields have ${texts.length} texts, and ${VECTORS_PER_ITEM_MAX} are allowed: index fewer, or split the item.`;
  throw new ApiError("store_item_invalid", detail);
}

/** @throws {ApiError} `embedding_failed` */
async function embed(
  embedder: Embedder,
  texts: readonly string[],
  as: "item" | "query",
  clock: Clock,
): Promise<readonly Float32Array[]> {
  if (texts.length === 0) return [];
  let stopTimer: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    stopTimer = clock.after(EMBED_TIMEOUT_MS, () => reject(new Error(`no reply within ${EMBED_TIMEOUT_MS} ms`)));
  });
  try {
    return await Promise.race([embedder.embed(texts, as), late]);
  } catch (error) {
    const reason = describeError(error).message;
    throw new ApiError("embedding_failed", `Nothing was changed. The embedding function failed: ${reason}`);
  } finally {
    stopTimer();
  }
}

// The checks of namespaces, labels and keys.

const STORE_LABEL_UNITS_MAX = 256;
const STORE_DEPTH_MAX = 16;
const STORE_KEY_UNITS_MAX = 1024;

function checkNamespace(namespace: readonly string[]): void {
  checkLabels(namespace);
  if (namespace.length === 0) throw wrongNamespace("it must have a label");
  if (namespace[0] === "langgraph") throw wrongNamespace('the first label cannot be "langgraph"');
}

/** Also valid for prefixes, which may be empty. */
function checkLabels(labels: readonly string[]): void {
  if (!Array.isArray(labels)) throw wrongNamespace("it must be a list of texts");
  if (labels.length > STORE_DEPTH_MAX) throw wrongNamespace(`it may have at most ${STORE_DEPTH_MAX} labels`);
  for (const label of labels as readonly unknown[]) {
    if (typeof label !== "string") throw wrongNamespace("every label must be a text");
    if (label === "" || label.includes(".")) throw wrongNamespace("labels cannot be empty or contain dots");
    if (label.length > STORE_LABEL_UNITS_MAX)
      throw wrongNamespace(`a label may have at most ${STORE_LABEL_UNITS_MAX} characters`);
    if (!isPlain(label)) throw wrongNamespace("labels cannot have NUL or half characters");
  }
}

function wrongNamespace(reason: string): ApiError {
  return new ApiError("store_namespace_invalid", `The namespace is invalid: ${reason}.`);
}

function checkKey(key: string): void {
  if (typeof key === "string" && key !== "" && key.length <= STORE_KEY_UNITS_MAX && isPlain(key)) return;
  const detail = `key must be a text of 1 to ${STORE_KEY_UNITS_MAX} characters, without NUL or half characters.`;
  throw new ApiError("store_item_invalid", detail);
}

/** Rejects text that a storage may alter, because two keys could then collide. */
const isPlain = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000");
