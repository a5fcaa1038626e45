// Merged metadata: the metadata of an object after a call that adds to it. The limit of a member holds for all of it too,
// because calls add to it one by one, and each list returns it.
import { checkMemberSizes } from "@holdpoint/api/member-size.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { stamped } from "../auth/scope.ts";
import type { AgentContext } from "./context.ts";
import type { Scope } from "../model/model.ts";

/** @throws {ApiError} `member_too_large` */
export function mergedMetadata(
  { limits }: Pick<AgentContext, "limits">,
  before: JsonObject,
  given: JsonObject | undefined,
  scope: Scope,
): JsonObject {
  const metadata = stamped({ ...before, ...given }, scope);
  checkMemberSizes({ metadata }, [], limits.memberBytesMax);
  return metadata;
}
