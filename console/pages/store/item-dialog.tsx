// Item dialog: puts an item: a new one, or one in the place of what is there, with what changes shown before.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { request } from "../../api/client.ts";
import { sayProblem } from "../../api/problem.ts";
import type { StoreItem } from "../../api/types.ts";
import { Button, Field } from "../../parts/controls.tsx";
import { CopyCurl } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { JsonEditor } from "../../parts/editor.tsx";
import { JsonDiff } from "../../parts/json-diff.tsx";
import { isObject } from "../../parts/json.ts";
import { parseJson } from "../../parts/parse-json.ts";
import { tell } from "../../parts/toast.tsx";
import { labelsOf } from "./namespaces.ts";
import { storeRoute } from "./route.ts";

const PATH = "/store/items";

export function ItemDialog({
  item,
  namespace,
  onClose,
}: {
  /** Null: a new one. */
  readonly item: StoreItem | null;
  /** Where a new one is begun. */
  readonly namespace: string;
  readonly onClose: () => void;
}): ReactNode {
  const initial = JSON.stringify(item?.value ?? {}, null, 2);
  const [place, setPlace] = useState(namespace);
  const [key, setKey] = useState(item?.key ?? "");
  const [text, setText] = useState(initial);
  const [minutes, setMinutes] = useState("");
  const [failure, setFailure] = useState<string | null>(null);
  const navigate = useNavigate();
  const search = storeRoute.useSearch();
  const queries = useQueryClient();
  const parsed = parseJson(text);
  const value = parsed.ok && isObject(parsed.value) ? parsed.value : null;
  const labels = item?.namespace ?? labelsOf(place);
  const body = { namespace: labels, key, value, ...(minutes === "" ? {} : { ttl: Number(minutes) }) };
  const isReady = value !== null && labels.length > 0 && key !== "";
  const save = async (): Promise<void> => {
    setFailure(null);
    try {
      await request("PUT", PATH, { body });
      tell("The item is stored.", { tone: "green" });
      onClose();
      await navigate({ to: "/store", search: { ...search, ns: labels.join("."), key }, replace: true });
      await queries.invalidateQueries({ queryKey: ["store"] });
    } catch (error) {
      setFailure(sayProblem(error));
    }
  };
  return (
    <Dialog
      title={item === null ? "New item" : `Edit ${item.key}`}
      description="It takes the place of the item that has this namespace and key, as a whole."
      onClose={onClose}
      wide
      footer={
        <>
          <CopyCurl method="PUT" path={PATH} body={body} />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={!isReady} onClick={() => void save()}>
            Store it
          </Button>
        </>
      }
    >
      <div className="stack">
        {item === null ? (
          <>
            <Field label="Namespace" hint="Labels from the outside in, with dots between them: users.4711.memories">
              <input autoFocus className="mono" value={place} onChange={(event) => setPlace(event.target.value)} />
            </Field>
            <Field label="Key">
              <input className="mono" value={key} onChange={(event) => setKey(event.target.value)} />
            </Field>
          </>
        ) : null}
        <div className="field">
          <span className="field-label" aria-hidden="true">
            Value
          </span>
          <JsonEditor initial={initial} label="Value" onChange={setText} />
          {parsed.ok ? null : <span className="field-error">{parsed.error}</span>}
          {parsed.ok && value === null ? <span className="field-error">The value must be an object.</span> : null}
        </div>
        <Field label="Minutes to live" hint="Without use; left empty, as the server is configured.">
          <input type="number" min="1" value={minutes} onChange={(event) => setMinutes(event.target.value)} />
        </Field>
        {item === null || value === null ? null : (
          <section>
            <h3>What changes</h3>
            <JsonDiff before={item.value} after={value} />
          </section>
        )}
        {failure === null ? null : (
          <p className="field-error" role="alert">
            {failure}
          </p>
        )}
      </div>
    </Dialog>
  );
}
