// Sign-in dialog: the way to the OpenID provider, and the reason if the last attempt failed.
import type { ReactNode } from "react";
import { keyRequired } from "./api/credentials.ts";
import { Button } from "./ui/controls.tsx";
import { Dialog } from "./ui/dialog.tsx";

const FAILURES: Readonly<Record<string, string>> = {
  expired: "The sign-in took too long, or the browser blocks cookies of this server. Sign in again.",
  denied: "The sign-in was cancelled.",
  failed: "The sign-in failed. If this repeats, ask an administrator: the log of the server has the reason.",
  unreachable: "The identity provider cannot be reached. Try again later.",
  no_role: "Your account has no access to this server. Ask an administrator to add one of your groups.",
  name_taken: "Another account has signed in with your name before. Ask an administrator to remove it.",
};
const PARAMETER = "sign_in_error";

/** Read once: the router removes parameters that no page knows. */
const failure = new URLSearchParams(window.location.search).get(PARAMETER);

/** The current page without the reason of the last failure. */
function pageToReturnTo(): string {
  const { pathname, search } = window.location;
  const query = new URLSearchParams(search);
  query.delete(PARAMETER);
  return `${pathname}${query.size === 0 ? "" : `?${query.toString()}`}`;
}

export function SignInDialog({ path }: { readonly path: string }): ReactNode {
  const signIn = (): void => {
    window.location.assign(`${path}?return_to=${encodeURIComponent(pageToReturnTo())}`);
  };
  return (
    <Dialog title="Sign in" description="This server requires an account.">
      <div className="stack">
        {failure === null ? null : (
          <p className="note amber" role="alert">
            {FAILURES[failure] ?? FAILURES["failed"]}
          </p>
        )}
        <div className="actions">
          <Button kind="primary" onClick={signIn} autoFocus>
            Sign in
          </Button>
          <Button kind="quiet" onClick={() => keyRequired.set(true)}>
            Use an API key
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
