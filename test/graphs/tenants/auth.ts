// Handlers of isolated tenants. They filter reads and stamp new objects; for one tenant they leave the stamping to the
// server.
import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";

interface User {
  readonly identity: string;
  readonly org: string;
  readonly permissions: string[];
}

const UNSTAMPED = "lone";
const USERS: Readonly<Record<string, User>> = {
  "token-ann": { identity: "ann", org: "acme", permissions: ["read", "write"] },
  "token-kim": { identity: "kim", org: "acme", permissions: ["read", "write"] },
  "token-bob": { identity: "bob", org: "bolt", permissions: ["read", "write"] },
  "token-ann-of-bolt": { identity: "ann", org: "bolt", permissions: ["read", "write"] },
  "token-lou": { identity: "lou", org: UNSTAMPED, permissions: ["read", "write"] },
  "token-eve": { identity: "eve", org: "acme", permissions: ["read"] },
};

const CHANGES = new Set(["create", "update", "delete", "create_run", "put"]);

export const auth = new Auth()
  .authenticate((request) => {
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    if (token === "token-expired") throw new HTTPException(401, { message: "The token has expired." });
    if (token === "token-unpaid")
      throw new HTTPException(402, { message: "Pay first.", headers: { "x-plan": "none" } });
    if (token === "token-broken") throw new Error(`no such user: ${token}`);
    const user = USERS[token];
    if (user === undefined) throw new HTTPException(401, { message: "Unknown token." });
    return user;
  })
  .on("*", ({ action, value, user, permissions }) => {
    if (CHANGES.has(action) && !permissions.includes("write")) return false;
    const { org } = user as unknown as User;
    const members = value as { metadata?: Record<string, unknown> | null };
    if ("metadata" in members && org !== UNSTAMPED) members.metadata = { ...members.metadata, org };
    return { org };
  })
  .on("store", ({ action, value, user, permissions }) => {
    if (CHANGES.has(action) && !permissions.includes("write")) return false;
    const { org } = user as unknown as User;
    const place = value as { namespace?: string[] | null };
    if (place.namespace?.[0] !== org) place.namespace = [org, ...(place.namespace ?? [])];
    return true;
  });
