// Local backend: the trace store of this machine as the backend of a collector.
import type { CollectorConfig } from "./settings.ts";

export const localUrl = (port: number): string => `http://127.0.0.1:${port}`;

/** Without an endpoint, traces stay on this machine, in the store at `url`, and no sender needs a key. */
export function localBackend<C extends CollectorConfig>(config: C, url: string | null): C {
  if (url === null) return config;
  return { ...config, endpoint: url, apiKey: config.apiKey ?? "local", explainAttributes: true };
}
