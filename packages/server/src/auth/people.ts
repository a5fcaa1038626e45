// People: removal from the directory.
import type { Clock } from "@holdpoint/base/clock.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { Caller } from "../model/model.ts";
import type { Storage } from "../ports/ports.ts";

/** @throws {ApiError} `person_not_found` */
export async function removePerson(
  { storage, clock }: { readonly storage: Storage; readonly clock: Clock },
  caller: Caller,
  name: string,
): Promise<void> {
  await storage.transaction(async (tx) => {
    if (!(await tx.deletePerson(name)))
      throw new ApiError("person_not_found", `No person with the name ${name} has signed in.`);
    await tx.audit([buildAct(caller, { action: "person_removed", at: clock.now(), subject: name })]);
  });
}
