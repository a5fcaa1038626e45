// The Idempotency-Key header, which identifies repeated calls.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { HttpRequest } from "@holdpoint/base/http/server/app.ts";

const KEY_UNITS_MAX = 255;

/** @throws {ApiError} `invalid_request` */
export function readIdempotencyKey(request: HttpRequest): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined || (typeof key === "string" && key !== "" && key.length <= KEY_UNITS_MAX)) return key;
  const detail = `Idempotency-Key must have 1 to ${KEY_UNITS_MAX} characters.`;
  throw new ApiError("invalid_request", detail, { errors: [{ path: "Idempotency-Key", message: detail }] });
}
