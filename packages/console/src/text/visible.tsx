// Visible: text of graphs, models and other people, with its hidden characters as marked escapes
// (packages/api/src/text/visible-text.ts).
import type { ReactNode } from "react";
import { hasHidden, visibleParts } from "@holdpoint/api/text/visible-text.ts";
import { Chip } from "../ui/controls.tsx";

export function Visible({ text }: { readonly text: string }): ReactNode {
  return visibleParts(text).map(({ text: part, hidden }, at) =>
    hidden ? (
      // Parts have no identity except their index.
      <span key={at} className="hidden-character" title="Code of an invisible character">
        {part}
      </span>
    ) : (
      part
    ),
  );
}

/** The reason why a name can be taken for another one (visible-text.3). */
export function Doubt({ reason }: { readonly reason: string | undefined }): ReactNode {
  return reason === undefined ? null : <Chip tone="red">{reason}</Chip>;
}

/** Below a text field, which shows its text as the browser draws it. */
export function HiddenCharacters({ text }: { readonly text: string }): ReactNode {
  if (!hasHidden(text)) return null;
  return (
    <span className="field-hint">
      Contains invisible characters: <Visible text={text} />
    </span>
  );
}
