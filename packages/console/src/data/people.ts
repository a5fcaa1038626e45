// People: those who have signed in, as suggestions for names, with their groups. None without sign-in, or without the
// right to list them.
import { useQuery } from "@tanstack/react-query";
import type { Person } from "@holdpoint/api/identity.ts";
import { findRefusal, useCaller } from "../api/caller.ts";
import { call } from "../api/client.ts";

const FRESH_MS = 60_000;
const PEOPLE_MAX = 1000;
const NOBODY: readonly Person[] = [];

export function usePeople(): readonly Person[] {
  const caller = useCaller();
  const { data } = useQuery({
    queryKey: ["people"],
    enabled: caller?.signed_in === true && findRefusal("people:search", caller) === null,
    staleTime: FRESH_MS,
    queryFn: ({ signal }) =>
      call<{ readonly people: readonly Person[] }>("GET", "/people", { query: { limit: PEOPLE_MAX }, signal }),
  });
  return data?.people ?? NOBODY;
}
