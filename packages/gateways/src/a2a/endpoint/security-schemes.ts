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
export function securityOf(authentication: Authentication, declared: JsonObject): Security {
  const named = authentication === "keys" ? [["api_key", KEY_SCHEME] as const] : declaredSchemes(declared);
  if (authentication === "none") return { securitySchemes: {}, securityRequirements: [] };
  return {
    securitySchemes: Object.fromEntries(named),
    securityRequirements: named.map(([name]) => ({ schemes: { [name]: { list: [] } } })),
  };
}

function declaredSchemes(declared: JsonObject): readonly (readonly [string, SecurityScheme])[] {
  return Object.entries(declared).flatMap(([name, value]) => {
    const scheme = isJsonObject(value) ? schemeOf(value) : undefined;
    return scheme === undefined ? [] : [[name, { scheme }] as const];
  });
}

function schemeOf(value: JsonObject): SecurityScheme["scheme"] {
  const description = textOf(value["description"]);
  switch (textOf(value["type"])) {
    case "apiKey": {
      const key = { description, location: textOf(value["in"]), name: textOf(value["name"]) };
      return { $case: "apiKeySecurityScheme", value: key };
    }
    case "http": {
      const http = { description, scheme: textOf(value["scheme"]), bearerFormat: textOf(value["bearerFormat"]) };
      return { $case: "httpAuthSecurityScheme", value: http };
    }
    case "openIdConnect": {
      const oidc = { description, openIdConnectUrl: textOf(value["openIdConnectUrl"]) };
      return { $case: "openIdConnectSecurityScheme", value: oidc };
    }
    case "oauth2": {
      const flows = flowsOf(value["flows"] ?? null);
      return { $case: "oauth2SecurityScheme", value: { description, flows, oauth2MetadataUrl: "" } };
    }
    case "mutualTLS":
      return { $case: "mtlsSecurityScheme", value: { description } };
    default:
      return undefined;
  }
}

/** The card has one flow; the first that both know counts. */
function flowsOf(value: Json): OAuthFlows | undefined {
  if (!isJsonObject(value)) return undefined;
  const { authorizationCode, clientCredentials } = value;
  if (isJsonObject(authorizationCode ?? null)) {
    const flow = authorizationCode as JsonObject;
    const own = { authorizationUrl: textOf(flow["authorizationUrl"]), pkceRequired: false, ...tokensOf(flow) };
    return { flow: { $case: "authorizationCode", value: own } };
  }
  if (!isJsonObject(clientCredentials ?? null)) return undefined;
  return { flow: { $case: "clientCredentials", value: tokensOf(clientCredentials as JsonObject) } };
}

function tokensOf(flow: JsonObject) {
  const { scopes } = flow;
  const named = isJsonObject(scopes ?? null) ? Object.entries(scopes as JsonObject) : [];
  return {
    tokenUrl: textOf(flow["tokenUrl"]),
    refreshUrl: textOf(flow["refreshUrl"]),
    scopes: Object.fromEntries(named.map(([name, text]) => [name, textOf(text)])),
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
