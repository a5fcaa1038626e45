// Key dialog: asks for the API key if the server requires one.
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { apiKey, keyRequired, setApiKey, signInAt } from "./api/credentials.ts";
import { Button, Field } from "./ui/controls.tsx";
import { Dialog } from "./ui/dialog.tsx";

export function KeyDialog(): ReactNode {
  const queries = useQueryClient();
  const [key, setKey] = useState("");
  const [remember, setRemember] = useState(false);
  const wrong = apiKey.get() !== null;
  const use = (): void => {
    if (key.trim() === "") return;
    setApiKey(key.trim(), remember);
    void queries.resetQueries();
  };
  return (
    <Dialog
      title="API key"
      description={wrong ? "The server rejected this key." : "This server requires an API key."}
      {...(signInAt.get() === null ? {} : { onClose: () => keyRequired.set(false) })} // back to the sign-in
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          use();
        }}
      >
        <Field label="Key" hint="Sent only to this server, as x-api-key.">
          <input
            type="password"
            autoComplete="off"
            autoFocus
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        </Field>
        <label className="check">
          <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.target.checked)} />
          Keep it in this browser after the tab is closed
        </label>
        <div className="actions">
          <Button kind="primary" submit disabled={key.trim() === ""}>
            Use this key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
