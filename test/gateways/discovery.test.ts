// Discovery: clients of a deployment with handlers learn where to authenticate. Checked:
//   discovery.1. MCP: the challenge names the metadata of the resource, which names the authorization server.
//   discovery.2. A2A: the card has the security schemes of langgraph.json, in both versions of the protocol.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { discoverOAuthProtectedResourceMetadata } from "@modelcontextprotocol/sdk/client/auth.js";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const TENANTS = join(ROOT, "test", "graphs", "tenants", "langgraph.json");
const ISSUER = "https://id.example/realm";

const folder = temporaryFolder();
const config = join(folder, "langgraph.json");
const file = JSON.parse(readFileSync(TENANTS, "utf8")) as {
  readonly graphs: Readonly<Record<string, string>>;
  readonly auth: { readonly path: string };
};
const absolute = (path: string): string => resolve(dirname(TENANTS), path);
const securitySchemes = {
  sso: { type: "openIdConnect", openIdConnectUrl: `${ISSUER}/.well-known/openid-configuration` },
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
};
const graphs = Object.fromEntries(Object.entries(file.graphs).map(([id, path]) => [id, absolute(path)]));
writeFileSync(
  config,
  JSON.stringify({ graphs, auth: { path: absolute(file.auth.path), openapi: { securitySchemes } } }),
);
const server = await startServerHere({ config });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

test("the challenge names the metadata, which the official client finds and reads (discovery.1)", async () => {
  const request = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const { status, headers } = await call(server, "POST", "/mcp", request);
  const place = /resource_metadata="([^"]+)"/.exec(headers.get("www-authenticate") ?? "")?.[1];
  assert.deepEqual([status, place], [401, `${server.url}/.well-known/oauth-protected-resource`]);
  const own: unknown = await (await fetch(place ?? "")).json();
  const found = await discoverOAuthProtectedResourceMetadata(`${server.url}/mcp`);
  assert.deepEqual(found, own);
  assert.equal(found.resource, `${server.url}/mcp`);
  assert.deepEqual(found.authorization_servers, [ISSUER]);
});

test("the card has the schemes of the deployment, also without credentials (discovery.2)", async () => {
  const cardIn = async (headers: Record<string, string>): Promise<Readonly<Record<string, unknown>>> =>
    (await call(server, "GET", "/.well-known/agent-card.json?assistant_id=agent", undefined, headers)).body;
  const [current, older] = [await cardIn({ "a2a-version": "1.0" }), await cardIn({})];
  const { openIdConnectUrl } = securitySchemes.sso;
  assert.deepEqual(current["securitySchemes"], {
    sso: { openIdConnectSecurityScheme: { openIdConnectUrl } },
    bearer: { httpAuthSecurityScheme: { scheme: "bearer", bearerFormat: "JWT" } },
  });
  assert.deepEqual(older["securitySchemes"], securitySchemes);
  assert.deepEqual(older["security"], [{ sso: [] }, { bearer: [] }]);
});
