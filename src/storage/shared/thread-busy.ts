// Taken: what a call is told whose thread another call has taken first.
import { ApiError } from "../../base/api-error.ts";

export function takenByAnother(): ApiError {
  return new ApiError("thread_busy", "Another call was faster.", { pending: [] });
}
