// Resource metadata: where clients find the authorization server (RFC 9728), and the challenge that names the place.
import { ApiError } from "@holdpoint/base/api-error.ts";

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** @param publicUrl address of the server with its prefix */
export function resourceMetadata(publicUrl: string, authorizationServers: readonly string[]): string {
  return JSON.stringify({
    resource: `${publicUrl}/mcp`,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ["header"],
  });
}

/** A refusal for lack of credentials, with the place of the metadata; other errors as they are. */
export function challenged(error: unknown, publicUrl: string, authorizationServers: readonly string[]): unknown {
  if (!(error instanceof ApiError) || error.code !== "unauthenticated") return error;
  const place = authorizationServers.length === 0 ? "" : ` resource_metadata="${publicUrl}${METADATA_PATH}"`;
  const headers = { ...error.headers, "WWW-Authenticate": `Bearer${place}` };
  return new ApiError(error.code, error.message, error.extra, headers);
}
