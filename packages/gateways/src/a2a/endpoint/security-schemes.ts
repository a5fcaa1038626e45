// Security schemes: how callers of this server authenticate, in the words of the agent card.
import type { OAuthFlows, SecurityRequirement, SecurityScheme } from "@a2a-js/sdk";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

/** `handlers`: code of the deployment decides; its schemes are those of langgraph.json. */
export type Authentication = "none" | "keys" | "handlers";

export interface Security {
  readonly securitySchemes: Record<string, SecurityScheme>;
  /** One of them is enough. */
  readonly securityRequirements: SecurityRequirement[];
}

const KEY_SCHEME: SecurityScheme = {
  scheme: { $case: "apiKeySecurityScheme", value: { description: "", location: "header", name: "x-api-key" } },
};

/** @param declared schemes of OpenAPI, by name; unknown types are left out */
export function buildSecurity(authentication: Authentication, declared: JsonObject): Security {
  const named = authentication === "keys" ? [["api_key", KEY_SCHEME] as const] : declaredSchemes(declared);
  if (authentication === "none") return { securitySchemes: {}, securityRequirements: [] };
  return {
    securitySchemes: Object.fromEntries(named),
    securityRequirements: named.map(([name]) => ({ schemes: { [name]: { list: [] } } })),
  };
}

function declaredSchemes(declared: JsonObject): readonly (readonly [string, SecurityScheme])[] {
  return Object.entries(declared).flatMap(([name, value]) => {
    const scheme = isJsonObject(value) ? toScheme(value) : undefined;
    return scheme === undefined ? [] : [[name, { scheme }] as const];
  });
}

function toScheme(value: JsonObject): SecurityScheme["scheme"] {
  const description = asText(value["description"]);
  switch (asText(value["type"])) {
    case "apiKey": {
      const key = { description, location: asText(value["in"]), name: asText(value["name"]) };
      return { $case: "apiKeySecurityScheme", value: key };
    }
    case "http": {
      const http = { description, scheme: asText(value["scheme"]), bearerFormat: asText(value["bearerFormat"]) };
      return { $case: "httpAuthSecurityScheme", value: http };
    }
    case "openIdConnect": {
      const oidc = { description, openIdConnectUrl: asText(value["openIdConnectUrl"]) };
      return { $case: "openIdConnectSecurityScheme", value: oidc };
    }
    case "oauth2": {
      const flows = toFlows(value["flows"] ?? null);
      return { $case: "oauth2SecurityScheme", value: { description, flows, oauth2MetadataUrl: "" } };
    }
    case "mutualTLS":
      return { $case: "mtlsSecurityScheme", value: { description } };
    default:
      return undefined;
  }
}

/** The card has one flow; the first that both know counts. */
function toFlows(value: Json): OAuthFlows | undefined {
  if (!isJsonObject(value)) return undefined;
  const { authorizationCode, clientCredentials } = value;
  if (isJsonObject(authorizationCode)) {
    const url = asText(authorizationCode["authorizationUrl"]);
    const own = { authorizationUrl: url, pkceRequired: false, ...readTokens(authorizationCode) };
    return { flow: { $case: "authorizationCode", value: own } };
  }
  if (!isJsonObject(clientCredentials)) return undefined;
  return { flow: { $case: "clientCredentials", value: readTokens(clientCredentials) } };
}

function readTokens(flow: JsonObject) {
  const { scopes } = flow;
  const named = isJsonObject(scopes) ? Object.entries(scopes) : [];
  return {
    tokenUrl: asText(flow["tokenUrl"]),
    refreshUrl: asText(flow["refreshUrl"]),
    scopes: Object.fromEntries(named.map(([name, text]) => [name, asText(text)])),
  };
}

function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
