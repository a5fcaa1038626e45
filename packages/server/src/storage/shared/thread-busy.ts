// Thread busy: the error for a call that lost the race for its thread.
import { ApiError } from "@holdpoint/base/api-error.ts";

export function threadBusy(): ApiError {
  return new ApiError("thread_busy", "A concurrent call changed the thread first.", { pending: [] });
}
