// Use history: checkpoints of a thread, page by page, and single ones.
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { call } from "../../api/client.ts";
import type { Thread, ThreadState } from "../../api/types.ts";
import { readCheckpointId } from "./history.ts";

const PAGE_SIZE = 50;

export function useHistory(thread: Thread) {
  const { thread_id: threadId } = thread;
  return useInfiniteQuery({
    queryKey: ["thread-history", threadId, thread.state_updated_at, thread.status],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      call<readonly ThreadState[]>("GET", `/threads/${threadId}/history`, {
        query: { limit: PAGE_SIZE, before: pageParam },
        signal,
      }),
    getNextPageParam: (last) => {
      const end = last.at(-1);
      return last.length < PAGE_SIZE || end === undefined ? null : readCheckpointId(end);
    },
    placeholderData: keepPreviousData,
  });
}

export function useCheckpoint(threadId: string, checkpointId: string | null) {
  return useQuery({
    queryKey: ["thread-checkpoint", threadId, checkpointId],
    enabled: checkpointId !== null,
    staleTime: Number.POSITIVE_INFINITY, // a checkpoint never changes
    queryFn: ({ signal }) => call<ThreadState>("GET", `/threads/${threadId}/state/${checkpointId ?? ""}`, { signal }),
  });
}
