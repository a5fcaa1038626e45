// Preferences dialog: name, theme, undo window, notifications, API key.
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Account } from "./account.tsx";
import { apiKey, callerName, setApiKey } from "./api/credentials.ts";
import { Button, Field } from "./ui/controls.tsx";
import { Dialog } from "./ui/dialog.tsx";
import {
  HOLD_CHOICES_SECS,
  advances,
  columns,
  holdSecs,
  notifications,
  ownName,
  theme,
  typesName,
  type Theme,
} from "./hooks/preferences.ts";
import { useValue } from "./hooks/value.ts";

const NAME_UNITS_MAX = 200;
const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export function PreferencesDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const queries = useQueryClient();
  const key = useValue(apiKey);
  const signedInAs = useValue(callerName);
  const forget = (): void => {
    onClose(); // the server's question for a key follows
    setApiKey(null, false);
    void queries.resetQueries();
  };
  return (
    <Dialog title="Preferences" description="For this browser only." onClose={onClose}>
      <div className="stack">
        <Account />
        {key === null && signedInAs === null ? <OwnName /> : null}
        <Field label="Theme">
          <select value={useValue(theme)} onChange={(event) => theme.set(event.target.value as Theme)}>
            {THEMES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Undo window" hint="Delay before an answer is sent. Press u to undo it.">
          <select value={useValue(holdSecs)} onChange={(event) => holdSecs.set(Number(event.target.value))}>
            {HOLD_CHOICES_SECS.map((seconds) => (
              <option key={seconds} value={seconds}>
                {seconds === 0 ? "None: confirm every answer" : `${seconds} seconds`}
              </option>
            ))}
          </select>
        </Field>
        <Field
          label="More columns of the inbox"
          hint="Metadata, arguments, claim, run: customer, amount_eur. At most 4."
        >
          <input value={useValue(columns)} maxLength={200} onChange={(event) => columns.set(event.target.value)} />
        </Field>
        <label className="check">
          <input
            type="checkbox"
            checked={useValue(advances)}
            onChange={(event) => advances.set(event.target.checked)}
          />
          Open the next item after a decision
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={useValue(typesName)}
            onChange={(event) => typesName.set(event.target.checked)}
          />
          Type the name of the action before a dangerous answer
        </label>
        <Notifications />
        {key === null ? null : (
          <div className="actions">
            <Button onClick={forget}>Forget the API key</Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}

function OwnName(): ReactNode {
  return (
    <Field label="Your name" hint="Shown in claims and in the audit trail when sign-in is not required.">
      <input
        value={useValue(ownName)}
        maxLength={NAME_UNITS_MAX}
        onChange={(event) => ownName.set(event.target.value)}
      />
    </Field>
  );
}

function Notifications(): ReactNode {
  const on = useValue(notifications);
  const [refused, setRefused] = useState(false);
  const change = async (wanted: boolean): Promise<void> => {
    const allowed = wanted && "Notification" in window && (await Notification.requestPermission()) === "granted";
    setRefused(wanted && !allowed);
    notifications.set(allowed);
  };
  return (
    <label className="check">
      <input type="checkbox" checked={on} onChange={(event) => void change(event.target.checked)} />
      Notify me about new pending items
      {refused ? <span className="field-error">Blocked by the browser.</span> : null}
    </label>
  );
}
