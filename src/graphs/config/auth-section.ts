// Auth section of langgraph.json → the location of the handlers, and warnings about the rest.
import * as z from "zod";
import { sectionRemarks } from "./config-keys.ts";
import { EXPORT_PATH_FORM, parseExportPath, type ExportPath } from "./export-path.ts";

export const AUTH_SECTION = z.looseObject({
  path: z
    .string()
    .refine((text) => parseExportPath(text, "") !== null, EXPORT_PATH_FORM)
    .optional(),
  disable_studio_auth: z.boolean().optional(),
});

const WITHOUT_EFFECT = {
  openapi: "/openapi.json describes the API keys of this server: describe your scheme in a document of http.app",
  cache: "the handler runs for each call, so that a revoked key ends at once: cache inside the handler",
};
/** `disable_studio_auth` needs no warning: this server has no such bypass to close. */
const KNOWN = new Set(["path", "disable_studio_auth"]);

export function authPath(section: z.infer<typeof AUTH_SECTION> | undefined, folder: string): ExportPath | null {
  return section?.path === undefined ? null : parseExportPath(section.path, folder);
}

export function authRemarks(section: object | undefined): readonly string[] {
  return sectionRemarks("auth", section, KNOWN, WITHOUT_EFFECT);
}
