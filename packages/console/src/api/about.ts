// About: the parts that run in the server process behind the console, and its configuration.
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { call } from "./client.ts";

export interface SettingLine {
  readonly name: string;
  /** The server masks secrets. */
  readonly value: string;
  readonly origin: "default" | "environment" | "file" | "start";
  readonly secret: boolean;
  readonly fallback: string;
  readonly meaning: string;
}

export interface About {
  readonly traces: boolean;
  readonly collector: { readonly url: string } | null;
  readonly settings: readonly SettingLine[];
  readonly graphs: readonly {
    readonly graph_id: string;
    readonly source: string;
    /** Why it does not load; null if it does. */
    readonly problem: string | null;
  }[];
  readonly versions: Readonly<Record<string, string>>;
}

export function useAbout(): UseQueryResult<About> {
  return useQuery({
    queryKey: ["about"],
    queryFn: ({ signal }) => call<About>("GET", "/console/api/about", { signal }),
  });
}
