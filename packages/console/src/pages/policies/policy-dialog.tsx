// Policy dialog: writes a policy, after a dry run of it.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../../api/client.ts";
import { EditDialog, JsonField } from "../../frames/edit-dialog.tsx";
import { parseJson } from "../../json/parse-json.ts";
import { isObject } from "../../json/json.ts";
import { Button } from "../../ui/controls.tsx";
import { showToast } from "../../ui/toast.tsx";
import { DryRun } from "./dry-run.tsx";

const START = `{
  "action": "refund",
  "when": { "args.amount": { "lte": 50 } },
  "answer": "approve"
}`;

export function PolicyDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState(START);
  const [tried, setTried] = useState<Readonly<Record<string, unknown>> | null>(null);
  const queries = useQueryClient();
  const parsed = parseJson(text);
  const body = parsed.ok && isObject(parsed.value) ? parsed.value : null;
  const save = async (): Promise<void> => {
    await call("POST", "/policies", { body });
    showToast("Policy written.", { tone: "green" });
    await queries.invalidateQueries({ queryKey: ["policies"] });
    onClose();
  };
  return (
    <EditDialog
      title="New policy"
      description="Later questions that fit are answered at once, in your name."
      call={{ method: "POST", path: "/policies", body: body ?? {} }}
      save={{ label: "Write", ready: body !== null, run: save }}
      onClose={onClose}
    >
      <JsonField
        label="Rule"
        initial={START}
        error={body === null ? "is no JSON object" : null}
        onChange={(next) => {
          setText(next);
          setTried(null);
        }}
      />
      <div className="actions">
        <Button disabled={body === null} onClick={() => setTried(body)}>
          Dry run
        </Button>
      </div>
      {tried === null ? null : <DryRun rule={tried} />}
    </EditDialog>
  );
}
