// Code editor: CodeMirror for JSON. In its own chunk; pages use json/editor.tsx.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, indentOnInput, syntaxTree } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { EditorState, type Range } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { type ReactNode, useEffect, useRef } from "react";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import type { EditorProps } from "./editor-props.ts";

/** The page's policy allows style elements with its nonce. */
const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";

const LINT_DELAY_MS = 200;
/** Tab leaves the editor, and Ctrl+Enter belongs to its form (hooks/shortcuts.ts). */
const KEYS = defaultKeymap.filter(({ key }) => key !== "Mod-Enter");

/** Grammar names → our classes. */
const CLASSES: Readonly<Record<string, string>> = {
  PropertyName: "json-key",
  String: "json-string",
  Number: "json-number",
  True: "json-boolean",
  False: "json-boolean",
  Null: "json-object",
};

/** Those that the library does not count as special. */
const BIDIRECTIONAL = /\u200c|\u200d|[\u202a-\u202e\u2060-\u206f]/;

function drawEscape(code: number): HTMLElement {
  const mark = document.createElement("span");
  mark.className = "hidden-character";
  mark.textContent = visible(String.fromCodePoint(code));
  return mark;
}

function paintColours(view: EditorView): DecorationSet {
  const marks: Range<Decoration>[] = [];
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter({ name, from: start, to: end }) {
        const className = CLASSES[name];
        if (className !== undefined) marks.push(Decoration.mark({ class: className }).range(start, end));
      },
    });
  }
  return Decoration.set(marks);
}

const colours = ViewPlugin.define(
  (view) => ({
    decorations: paintColours(view),
    update(update) {
      if (update.docChanged || update.viewportChanged || syntaxTree(update.startState) !== syntaxTree(update.state)) {
        this.decorations = paintColours(update.view);
      }
    },
  }),
  { decorations: ({ decorations }) => decorations },
);

export default function CodeEditor({
  initial,
  label,
  onChange,
  readOnly = false,
  plain = false,
}: EditorProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const changed = useRef(onChange);
  useEffect(() => {
    changed.current = onChange;
  });
  useEffect(() => {
    if (place.current === null) return undefined;
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: initial,
        extensions: [
          EditorView.cspNonce.of(nonce),
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({ "aria-label": label, ...(readOnly ? { tabindex: "0" } : {}) }),
          EditorView.lineWrapping,
          lineNumbers(),
          highlightSpecialChars({ render: drawEscape, addSpecialChars: BIDIRECTIONAL }),
          history(),
          indentOnInput(),
          bracketMatching(),
          ...(plain ? [] : [json(), linter(jsonParseLinter(), { delay: LINT_DELAY_MS }), colours]),
          keymap.of([...KEYS, ...historyKeymap]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    return () => view.destroy();
    // The editor owns its text: a new external value needs a new editor, with another key.
  }, [label, readOnly, plain]);
  return <div className="code-editor" ref={place} />;
}
