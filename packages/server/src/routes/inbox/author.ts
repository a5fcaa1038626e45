// The person whom a call of the inbox names.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../../context/context.ts";
import type { Caller } from "../../model/model.ts";

/** @throws {ApiError} `invalid_request`: an authenticated caller cannot use another name */
export function chooseAuthor(agent: AgentContext, caller: Caller, by: string | undefined): Caller {
  if (by === undefined || by === caller.name) return caller;
  if (agent.access === null) return { ...caller, name: by };
  throw new ApiError("invalid_request", "`by` is only for servers without authentication: omit it.");
}
