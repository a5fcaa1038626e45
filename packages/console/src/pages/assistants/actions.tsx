// Actions: operations on an assistant. Built-in assistants are read-only.
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { request } from "../../api/client.ts";
import type { Assistant } from "../../api/types.ts";
import { DeleteDialog } from "../../frames/delete-dialog.tsx";
import { Button } from "../../ui/controls.tsx";
import { CopyCurl } from "../../ui/copy.tsx";
import { withToast } from "../../ui/with-toast.ts";
import { AssistantDialog } from "./assistant-dialog.tsx";
import { isBuiltIn } from "./built-in.ts";

export function AssistantActions({ assistant }: { readonly assistant: Assistant }): ReactNode {
  const [open, setOpen] = useState<"edit" | "delete" | null>(null);
  const path = `/assistants/${assistant.assistant_id}`;
  return (
    <span className="row spread assistant-actions">
      <Link to="/threads" search={{ graph: assistant.graph_id }}>
        Threads
      </Link>
      <Link to="/crons" search={{ assistant: assistant.assistant_id }}>
        Crons
      </Link>
      <CopyCurl method="GET" path={path} />
      {isBuiltIn(assistant) ? null : (
        <>
          <Button needs="assistants:update" onClick={() => setOpen("edit")}>
            Edit
          </Button>
          <Button kind="danger" needs="assistants:delete" onClick={() => setOpen("delete")}>
            Delete
          </Button>
        </>
      )}
      {open === "edit" ? <AssistantDialog assistant={assistant} onClose={() => setOpen(null)} /> : null}
      {open === "delete" ? <Deletion assistant={assistant} path={path} onClose={() => setOpen(null)} /> : null}
    </span>
  );
}

function Deletion({
  assistant,
  path,
  onClose,
}: {
  readonly assistant: Assistant;
  readonly path: string;
  readonly onClose: () => void;
}): ReactNode {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const remove = async (): Promise<void> => {
    onClose();
    await withToast(async () => {
      await request("DELETE", path);
      await navigate({ to: "/assistants", search: {}, replace: true });
    }, "Assistant deleted.");
    await queries.invalidateQueries({ queryKey: ["assistants"] });
  };
  return (
    <DeleteDialog
      title={`Delete ${assistant.name}?`}
      description="Deletes its versions and finished runs. Threads stay. This cannot be undone."
      call={{ path }}
      onDelete={() => void remove()}
      onClose={onClose}
    >
      <p className="mono">{assistant.assistant_id}</p>
    </DeleteDialog>
  );
}
