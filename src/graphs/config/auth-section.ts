// Auth section of langgraph.json → the location of the handlers, and warnings about the rest.
import * as z from "zod";
import { EXPORT_PATH_FORM, parseExportPath, type ExportPath } from "./export-path.ts";

export const AUTH_SECTION = z.looseObject({
  path: z
    .string()
    .refine((text) => parseExportPath(text, "") !== null, EXPORT_PATH_FORM)
    .optional(),
  disable_studio_auth: z.boolean().optional(),
});

/** Known keys without effect. `disable_studio_auth` needs no warning: this server has no such bypass to close. */
const WITHOUT_EFFECT = new Set(["openapi", "cache"]);
const KNOWN = new Set(["path", "disable_studio_auth"]);

export function authPath(section: z.infer<typeof AUTH_SECTION> | undefined, folder: string): ExportPath | null {
  return section?.path === undefined ? null : parseExportPath(section.path, folder);
}

export function authRemarks(section: object | undefined): readonly string[] {
  return Object.keys(section ?? {})
    .filter((key) => !KNOWN.has(key))
    .map(
      (key) =>
        `"auth.${key}" ${WITHOUT_EFFECT.has(key) ? "is not supported by this version" : "is not a known key"} and has no effect`,
    );
}
