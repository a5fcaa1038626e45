// Tests of roles. Checked: roles.1, each role has the rights of those before it; roles.2, unknown events are for
// administrators; role-access.2, the refusal names the role that is needed; role-limits.1 to role-limits.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { builtInAssistantId } from "../model/built-in-assistant.ts";
import { ROLES } from "../model/identity.ts";
import type { Role, RoleLimits, Scope } from "../model/model.ts";
import { createRoleAccess, programCaller } from "./role-access.ts";
import { parseRoleLimits, NO_LIMITS } from "./role-limits.ts";
import { leastRole } from "./roles.ts";

const NEEDS: readonly (readonly [event: string, role: Role])[] = [
  ["threads:read", "viewer"],
  ["threads:search", "viewer"],
  ["store:get", "viewer"],
  ["store:list_namespaces", "viewer"],
  ["threads:answer", "reviewer"],
  ["threads:claim", "reviewer"],
  ["people:search", "reviewer"],
  ["threads:create", "operator"],
  ["threads:create_run", "operator"],
  ["threads:update", "operator"],
  ["threads:delete", "operator"],
  ["assistants:create", "operator"],
  ["crons:create", "operator"],
  ["store:put", "operator"],
  ["threads:bypass", "admin"],
  ["assistants:administrate", "admin"],
  ["keys:create", "admin"],
  ["keys:search", "admin"],
  ["people:delete", "admin"],
  ["anything:else", "admin"],
];

const access = createRoleAccess([]);
const ask = (role: Role, limits: RoleLimits, event: string, value: JsonObject = {}) =>
  access.authorize(programCaller("ann", role, limits), { event, value });

for (const [event, least] of NEEDS) {
  test(`${event} needs the role ${least}, and every role after it has it (roles.1, roles.2)`, async () => {
    assert.equal(leastRole(event), least);
    for (const role of ROLES) {
      const asked = ask(role, NO_LIMITS, event);
      if (ROLES.indexOf(role) >= ROLES.indexOf(least)) assert.deepEqual(await asked, { scope: null, value: {} });
      else
        await assert.rejects(asked, (error) => {
          assert.ok(error instanceof ApiError && error.code === "forbidden");
          assert.deepEqual(error.extra, { role, needed: least });
          return true;
        });
    }
  });
}

const AGENT = builtInAssistantId("agent");
const BOTH = parseRoleLimits(["agent"], { region: "eu", team: ["a", "b"] }) as RoleLimits;
const REGION = parseRoleLimits(null, { region: "eu" }) as RoleLimits;
const ONE_AGENT = { key: "assistant_id", op: "in", value: [AGENT] } as const;
const IN_EU = { key: "region", op: "eq", value: "eu" } as const;
const IN_TEAM = { key: "team", op: "in", value: ["a", "b"] } as const;

const SCOPES: readonly (readonly [name: string, RoleLimits, event: string, value: JsonObject, Scope | "forbidden"])[] =
  [
    ["threads need every member", BOTH, "threads:read", {}, [ONE_AGENT, IN_EU, IN_TEAM]],
    ["so do crons and items", BOTH, "store:get", {}, [ONE_AGENT, IN_EU, IN_TEAM]],
    ["assistants of the limit can be read", BOTH, "assistants:search", {}, [ONE_AGENT]],
    ["without assistants, all can be read", REGION, "assistants:read", {}, null],
    ["none can be changed", REGION, "assistants:update", {}, "forbidden"],
    ["a run of the assistant", BOTH, "threads:create_run", { assistant_id: "agent" }, [ONE_AGENT, IN_EU, IN_TEAM]],
    ["a run of its id", BOTH, "threads:create_run", { assistant_id: AGENT.toUpperCase() }, [ONE_AGENT, IN_EU, IN_TEAM]],
    ["a run of another", BOTH, "threads:create_run", { assistant_id: "other" }, "forbidden"],
    ["a run of any other", REGION, "threads:create_run", { assistant_id: "other" }, [IN_EU]],
    ["no key is made", REGION, "keys:create", {}, "forbidden"],
    ["nobody is removed", REGION, "people:delete", {}, "forbidden"],
  ];
for (const [name, limits, event, value, expected] of SCOPES) {
  test(`a limited role, ${name}: ${event} (role-limits.1, role-limits.2, role-limits.3, role-limits.4)`, async () => {
    const asked = ask(/^(?:keys|people):/.test(event) ? "admin" : "operator", limits, event, value);
    if (expected === "forbidden") await assert.rejects(asked, { code: "forbidden" });
    else assert.deepEqual((await asked).scope, expected);
  });
}

const WRONG: readonly (readonly [assistants: unknown, metadata: unknown, says: RegExp])[] = [
  ["agent", {}, /"assistants" is not a list/],
  [[], {}, /"assistants" is not a list/],
  [[""], {}, /"assistants" is not a list/],
  [Array.from({ length: 101 }, String), {}, /"assistants" is not a list/],
  [null, ["eu"], /"metadata" is not an object/],
  [null, { region: null }, /"metadata.region" is not/],
  [null, { region: [] }, /"metadata.region" is not/],
  [null, { region: { eu: 1 } }, /"metadata.region" is not/],
  [null, { region: ["x".repeat(151)] }, /"metadata.region" is not/],
];
for (const [assistants, metadata, says] of WRONG) {
  test(`limits of ${JSON.stringify([assistants, metadata]).slice(0, 50)} are refused`, () => {
    const refusal = parseRoleLimits(assistants, metadata);
    assert.match(typeof refusal === "string" ? refusal : "", says);
  });
}
