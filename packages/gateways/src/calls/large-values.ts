// Large values: what is above the limit of a result is named, with the place that has it.
import { exceedsBytes } from "@holdpoint/base/json/json-size.ts";
import type { Json } from "@holdpoint/base/json/json.ts";

/** No model reads more, and the SDKs write a result in one piece. */
const VALUES_BYTES_MAX = 4 * 1024 * 1024;

export function isTooLarge(value: Json): boolean {
  return exceedsBytes(value, VALUES_BYTES_MAX);
}

export function stateUrl(publicUrl: string, threadId: string): string {
  return `${publicUrl}/threads/${threadId}/state`;
}

export function omittedText(url: string): string {
  return `The result has more than ${VALUES_BYTES_MAX} bytes as JSON, and is not shown here: GET ${url} has it.`;
}
