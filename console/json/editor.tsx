// Editor: JSON as text, validated while typing. Loads the code editor on first use.
import { type ReactNode, Suspense, lazy } from "react";
import { Loading } from "../ui/controls.tsx";
import type { EditorProps } from "./editor-props.ts";

const CodeEditor = lazy(() => import("./code-editor.tsx"));

export function JsonEditor(props: EditorProps): ReactNode {
  return (
    <Suspense fallback={<Loading label="Loading the editor" />}>
      <CodeEditor {...props} />
    </Suspense>
  );
}
