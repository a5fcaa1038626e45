// Auth section of langgraph.json → the location of the handlers, and warnings about the rest.
import * as z from "zod";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { sectionRemarks } from "./config-keys.ts";
import { EXPORT_PATH_FORM, parseExportPath, type ExportPath } from "./export-path.ts";

export const AUTH_SECTION = z.looseObject({
  path: z
    .string()
    .refine((text) => parseExportPath(text, "") !== null, EXPORT_PATH_FORM)
    .optional(),
  disable_studio_auth: z.boolean().optional(),
  openapi: z
    .looseObject({
      securitySchemes: z.record(z.string(), z.looseObject({ openIdConnectUrl: z.url().optional() })).optional(),
    })
    .optional(),
});

const WITHOUT_EFFECT = {
  cache: "the handler runs for each call, so that a revoked key ends at once: cache inside the handler",
};
/** `disable_studio_auth` needs no warning: this server has no such bypass to close. */
const KNOWN = new Set(["path", "disable_studio_auth", "openapi"]);
const DISCOVERY = "/.well-known/openid-configuration";

export function authPath(section: z.infer<typeof AUTH_SECTION> | undefined, folder: string): ExportPath | null {
  return section?.path === undefined ? null : parseExportPath(section.path, folder);
}

/** Issuers of the security schemes with `openIdConnectUrl`; other schemes name no issuer. */
export function authorizationServers(section: z.infer<typeof AUTH_SECTION> | undefined): readonly string[] {
  const urls = Object.values(section?.openapi?.securitySchemes ?? {}).map(({ openIdConnectUrl: url }) => url);
  return urls.filter((url) => url !== undefined).map((url) => url.replace(DISCOVERY, ""));
}

/** Security schemes in OpenAPI's form, by name. */
export function securitySchemes(section: z.infer<typeof AUTH_SECTION> | undefined): JsonObject {
  return (section?.openapi?.securitySchemes ?? {}) as JsonObject;
}

export function authRemarks(section: object | undefined): readonly string[] {
  return sectionRemarks("auth", section, KNOWN, WITHOUT_EFFECT);
}
