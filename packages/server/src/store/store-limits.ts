// Store limits: the checks of namespaces, labels and keys.
import { ApiError } from "@holdpoint/base/api-error.ts";

const STORE_LABEL_UNITS_MAX = 256;
const STORE_DEPTH_MAX = 16;
const STORE_KEY_UNITS_MAX = 1024;

export function checkNamespace(namespace: readonly string[]): void {
  checkLabels(namespace);
  if (namespace.length === 0) throw wrongNamespace("it must have a label");
  if (namespace[0] === "langgraph") throw wrongNamespace('the first label cannot be "langgraph"');
}

/** Also valid for prefixes, which may be empty. */
export function checkLabels(labels: readonly string[]): void {
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

export function checkKey(key: string): void {
  if (typeof key === "string" && key !== "" && key.length <= STORE_KEY_UNITS_MAX && isPlain(key)) return;
  const detail = `key must be a text of 1 to ${STORE_KEY_UNITS_MAX} characters, without NUL or half characters.`;
  throw new ApiError("store_item_invalid", detail);
}

/** Rejects text that a storage may alter, because two keys could then collide. */
const isPlain = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000");
