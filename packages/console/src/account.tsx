// Account: who is signed in, with the role, and the way out.
import type { ReactNode } from "react";
import { signOut, useCaller } from "./api/caller.ts";
import { Button } from "./ui/controls.tsx";
import { withToast } from "./ui/with-toast.ts";

export function Account(): ReactNode {
  const caller = useCaller();
  if (caller === null || caller.name === null) return null;
  const { name, display_name: shown, role, signed_in: signedIn } = caller;
  return (
    <section className="account" aria-label="Account">
      <span className="account-name truncate" title={name}>
        {shown ?? name}
      </span>
      {role === null ? null : <span className="account-role">{role}</span>}
      {signedIn ? (
        <Button kind="quiet" onClick={() => void withToast(signOut, "Signed out.")}>
          Sign out
        </Button>
      ) : null}
    </section>
  );
}
