// Settings of sign-in, a part of the agent server's table.
import { durationMs, setting, text, ShownReason, type Setting } from "@holdpoint/base/config/config.ts";
import { roleRulesSetting } from "../auth/role-rules.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const LOOPBACK = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

function issuer(name: string, meaning: string): Setting<string | null> {
  const kind = { type: "URL", fallback: null, limits: "https, or http on this machine" };
  return setting<string | null>(name, kind, { meaning }, (value) => {
    if (!URL.canParse(value)) throw new Error(`"${value}" is no URL`);
    const { protocol, hostname, search, hash } = new URL(value);
    if (protocol !== "https:" && !(protocol === "http:" && LOOPBACK.test(hostname)))
      throw new Error(`"${value}" must be an https URL`);
    if (search !== "" || hash !== "") throw new Error("has a query or a fragment");
    return value;
  });
}

function scopes(name: string, meaning: string): Setting<string> {
  const kind = { type: "text", fallback: "openid profile email", limits: "names with blanks, openid among them" };
  return setting(name, kind, { meaning }, (value) => {
    const names = value.split(/\s+/).filter((one) => one !== "");
    if (!names.includes("openid")) throw new ShownReason("has no openid");
    return names.join(" ");
  });
}

export const SIGN_IN_SETTINGS = {
  oidcIssuer: issuer(
    "HOLDPOINT_OIDC_ISSUER",
    "Issuer of the OpenID Connect provider that people sign in with, as in its `/.well-known/openid-configuration`.",
  ),
  oidcClientId: text("HOLDPOINT_OIDC_CLIENT_ID", null, { meaning: "Id of this server as a client of the provider." }),
  oidcClientSecret: text("HOLDPOINT_OIDC_CLIENT_SECRET", null, {
    meaning: "Secret of the client. Without it, the server is a public client and uses PKCE alone.",
    secret: true,
  }),
  oidcScopes: scopes(
    "HOLDPOINT_OIDC_SCOPES",
    "Scopes to ask for. Some providers need one more for groups, such as `groups`.",
  ),
  oidcNameClaim: text("HOLDPOINT_OIDC_NAME_CLAIM", null, {
    meaning:
      "Claim with the name in audit trails, claims and assignments. Default: the e-mail address, else `preferred_username`, else the subject.",
  }),
  oidcGroupsClaim: text("HOLDPOINT_OIDC_GROUPS_CLAIM", "groups", {
    meaning: "Claim with the groups of a person; dots lead into objects, as in `realm_access.roles`.",
  }),
  roleRules: roleRulesSetting(
    "HOLDPOINT_ROLES",
    "Roles of people who sign in: `group=role`, comma-separated, `*=role` for all, or a JSON list of rules with limits.",
  ),
  sessionIdleMs: durationMs(
    "HOLDPOINT_SESSION_IDLE",
    12 * HOUR_MS,
    { min: 5 * 60_000, max: 90 * DAY_MS },
    { meaning: "Time without a request after which a person is signed out." },
  ),
} as const;
