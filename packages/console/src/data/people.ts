// People: those who have signed in, as suggestions for names, with their groups. None without sign-in, or without the
// right to list them.
import { useQuery } from "@tanstack/react-query";
import { findRefusal, useCaller } from "../api/caller.ts";
import { call } from "../api/client.ts";
import type { ListedPerson } from "./mentions.ts";

const FRESH_MS = 60_000;
const PEOPLE_MAX = 1000;
const NOBODY: readonly ListedPerson[] = [];

export function usePeople(): readonly ListedPerson[] {
  const caller = useCaller();
  const { data } = useQuery({
    queryKey: ["people"],
    enabled: caller?.signed_in === true && findRefusal("people:search", caller) === null,
    staleTime: FRESH_MS,
    queryFn: ({ signal }) =>
      call<{ readonly people: readonly ListedPerson[] }>("GET", "/people", { query: { limit: PEOPLE_MAX }, signal }),
  });
  return data?.people ?? NOBODY;
}
