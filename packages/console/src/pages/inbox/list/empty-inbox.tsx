// Empty inbox: offers the sample graph, so that newcomers see an example item.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../../../api/client.ts";
import { Button, EmptyState, Failure } from "../../../ui/controls.tsx";
import { activeFilters, type Filters } from "./filters.ts";

const SAMPLE_GRAPH = "refund-approval";
const SAMPLE_INPUT = {
  messages: [{ role: "user", content: "My order 4711 arrived broken. I want my money back." }],
};

export function EmptyInbox({ filters }: { readonly filters: Filters }): ReactNode {
  const navigate = useNavigate();
  const active = activeFilters(filters);
  if (active.length > 0) {
    const { text, ...others } = filters;
    const go = (search: Filters) => (): void => void navigate({ to: "/inbox", search });
    return (
      <EmptyState icon="filter" title="No matching items">
        {text === undefined ? null : <p>A search finds whole words and their beginnings.</p>}
        <div className="row">
          {text === undefined || active.length === 1 ? null : <Button onClick={go(others)}>Clear the search</Button>}
          <Button onClick={go({})}>Show all pending items</Button>
        </div>
        {text === undefined ? null : (
          <Link to="/answered" search={{ text }}>
            Search the answered items
          </Link>
        )}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="inbox" title="No pending items">
      <p>Runs that pause for an answer or at a breakpoint appear here at once.</p>
      <Sample />
    </EmptyState>
  );
}

function Sample(): ReactNode {
  const known = useQuery({
    queryKey: ["assistants", "of", SAMPLE_GRAPH],
    queryFn: ({ signal }) =>
      call<readonly unknown[]>("POST", "/assistants/search", { body: { graph_id: SAMPLE_GRAPH, limit: 1 }, signal }),
  });
  const run = useMutation({
    mutationFn: async () => {
      const thread = await call<{ readonly thread_id: string }>("POST", "/threads", { body: {} });
      await call("POST", `/threads/${thread.thread_id}/runs`, {
        body: { assistant_id: SAMPLE_GRAPH, input: SAMPLE_INPUT },
      });
    },
  });
  if (known.data === undefined || known.data.length === 0) return null;
  return (
    <>
      <Button kind="primary" disabled={run.isPending} onClick={() => run.mutate()}>
        Run the sample graph
      </Button>
      {run.error === null ? null : <Failure error={run.error} />}
    </>
  );
}
