// Export path: `"./file.ts:export"`, the form in which langgraph.json names user code.
import { isAbsolute, join } from "node:path";

export interface ExportPath {
  readonly file: string;
  readonly exportName: string;
}

const CODE_FILES = /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs)$/;

/** Without a name it means the default export. Null if the text has another form. */
export function parseExportPath(text: string, folder: string): ExportPath | null {
  const colon = text.lastIndexOf(":");
  const [path, exportName] = colon > 1 ? [text.slice(0, colon), text.slice(colon + 1)] : [text, "default"];
  if (!CODE_FILES.test(path) || exportName === "") return null;
  return { exportName, file: isAbsolute(path) ? path : join(folder, path) };
}

export const EXPORT_PATH_FORM = 'is not of the form "./file.ts:export"';
