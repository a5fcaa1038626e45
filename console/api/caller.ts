// Caller: the person that the server sees, and whether it may only read.
import { useQuery } from "@tanstack/react-query";
import { call } from "./client.ts";

interface Caller {
  /** Null without authentication. */
  readonly name: string | null;
  readonly read_only: boolean;
}

/** False until the server says otherwise: the server checks every call anyway. */
export function useReadOnly(): boolean {
  const { data } = useQuery({
    queryKey: ["caller"],
    queryFn: ({ signal }) => call<Caller>("GET", "/console/api/caller", { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data?.read_only === true;
}

export const READ_ONLY = "Your API key is read-only.";
