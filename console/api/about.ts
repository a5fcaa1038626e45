// About: what the process behind the console says of itself: which parts run in it, and its configuration.
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { call } from "./client.ts";

export interface SettingLine {
  readonly name: string;
  /** Secrets are masked by the server. */
  readonly value: string;
  readonly origin: "default" | "environment" | "file";
  readonly secret: boolean;
  readonly fallback: string;
  readonly meaning: string;
}

export interface About {
  readonly traces: boolean;
  readonly collector: { readonly url: string } | null;
  readonly settings: readonly SettingLine[];
  readonly graphs: readonly { readonly graph_id: string; readonly source: string }[];
  readonly versions: Readonly<Record<string, string>>;
}

export function useAbout(): UseQueryResult<About> {
  return useQuery({
    queryKey: ["about"],
    queryFn: ({ signal }) => call<About>("GET", "/console/api/about", { signal }),
  });
}
