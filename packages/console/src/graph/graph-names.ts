// Graph names: the deployed graphs, for filters and forms.
import { useQuery } from "@tanstack/react-query";
import { call } from "../api/client.ts";
import type { Assistant } from "../api/types.ts";

const ASSISTANTS_MAX = 200;

export function useAssistants(): readonly Assistant[] {
  const { data } = useQuery({
    queryKey: ["assistants"],
    queryFn: ({ signal }) =>
      call<readonly Assistant[]>("POST", "/assistants/search", {
        body: { limit: ASSISTANTS_MAX, sort_by: "name", sort_order: "asc" },
        signal,
      }),
  });
  return data ?? NONE;
}

export function useGraphNames(): readonly string[] {
  return [...new Set(useAssistants().map(({ graph_id: graphId }) => graphId))].sort();
}

const NONE: readonly Assistant[] = [];
