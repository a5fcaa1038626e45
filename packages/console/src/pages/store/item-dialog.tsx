// Item dialog: creates or replaces a store item and shows the changes first.
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { request } from "../../api/client.ts";
import type { StoreItem } from "../../api/types.ts";
import { EditDialog, JsonField } from "../../frames/edit-dialog.tsx";
import { JsonDiff } from "../../diff/json-diff.tsx";
import { isObject } from "../../json/json.ts";
import { parseJson } from "../../json/parse-json.ts";
import { Field } from "../../ui/controls.tsx";
import { showToast } from "../../ui/toast.tsx";
import { splitLabels } from "./namespaces.ts";

const storeRoute = getRouteApi("/store");

const PATH = "/store/items";

export function ItemDialog({
  item,
  namespace,
  onClose,
}: {
  /** Null: create. */
  readonly item: StoreItem | null;
  /** Initial namespace of a new item. */
  readonly namespace: string;
  readonly onClose: () => void;
}): ReactNode {
  const initial = JSON.stringify(item?.value ?? {}, null, 2);
  const [place, setPlace] = useState(namespace);
  const [key, setKey] = useState(item?.key ?? "");
  const [text, setText] = useState(initial);
  const [minutes, setMinutes] = useState("");
  const navigate = useNavigate();
  const search = storeRoute.useSearch();
  const queries = useQueryClient();
  const parsed = parseJson(text);
  const value = parsed.ok && isObject(parsed.value) ? parsed.value : null;
  const labels = item?.namespace ?? splitLabels(place);
  const body = { namespace: labels, key, value, ...(minutes === "" ? {} : { ttl: Number(minutes) }) };
  const isReady = value !== null && labels.length > 0 && key !== "";
  const save = async (): Promise<void> => {
    await request("PUT", PATH, { body });
    showToast("Item stored.", { tone: "green" });
    onClose();
    await navigate({ to: "/store", search: { ...search, ns: labels.join("."), key }, replace: true });
    await queries.invalidateQueries({ queryKey: ["store"] });
  };
  return (
    <EditDialog
      title={item === null ? "New item" : `Edit ${item.key}`}
      description="Replaces the whole item with this namespace and key."
      call={{ method: "PUT", path: PATH, body }}
      save={{ label: "Save", ready: isReady, run: save }}
      onClose={onClose}
    >
      {item === null ? (
        <>
          <Field label="Namespace" hint="Labels separated by dots, outermost first: users.4711.memories">
            <input autoFocus className="mono" value={place} onChange={(event) => setPlace(event.target.value)} />
          </Field>
          <Field label="Key">
            <input className="mono" value={key} onChange={(event) => setKey(event.target.value)} />
          </Field>
        </>
      ) : null}
      <JsonField
        label="Value"
        initial={initial}
        error={parsed.ok ? (value === null ? "The value must be an object." : null) : parsed.error}
        onChange={setText}
      />
      <Field label="Minutes to live" hint="Minutes after last use; empty for the server default.">
        <input type="number" min="1" value={minutes} onChange={(event) => setMinutes(event.target.value)} />
      </Field>
      {item === null || value === null ? null : (
        <section>
          <h3>Changes</h3>
          <JsonDiff before={item.value} after={value} />
        </section>
      )}
    </EditDialog>
  );
}
