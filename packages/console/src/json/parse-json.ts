// Parse JSON: the typed value, or the parse error. Pure.

export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

export function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
