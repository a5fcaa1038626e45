// Settings of the parts that the console shows beside the agent server: traces and a collector.
import { choice, setting, text, type Setting } from "../../base/config/config.ts";

function address(name: string, meaning: string): Setting<string | null> {
  return setting<string | null>(
    name,
    { type: "url", fallback: null, limits: "http or https" },
    { meaning },
    (value) => {
      const url = URL.canParse(value) ? new URL(value) : null;
      if (url === null || !/^https?:$/.test(url.protocol))
        throw new Error("is not a URL: write http://host:port or https://host");
      if (url.username !== "" || url.password !== "") throw new Error("must not contain a user or a password");
      if (url.search !== "" || url.hash !== "") throw new Error("has a query or a fragment");
      return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
    },
  );
}

export const PARTS_SETTINGS = {
  traces: choice("TRACES", "off", ["off", "on"], {
    meaning:
      "`on`: `holdpoint serve` also runs a collector on loopback and the local trace store, and the console shows the traces. `holdpoint dev` always does.",
  }),
  tracesUrl: address(
    "TRACES_URL",
    "Trace store of another process, whose traces the console shows: `http://127.0.0.1:4319`, or `https://host/console/api` of another server.",
  ),
  tracesKey: text("TRACES_URL_KEY", null, {
    meaning: "Key for TRACES_URL, sent as `x-api-key`. No page sees it.",
    secret: true,
  }),
  collectorUrl: address("COLLECTOR_URL", "Collector of another process, which the console shows: `http://host:4318`."),
  collectorToken: text("COLLECTOR_TOKEN", null, {
    meaning: "INGEST_TOKEN of that collector, for sample spans. No page sees it.",
    secret: true,
  }),
} as const;
