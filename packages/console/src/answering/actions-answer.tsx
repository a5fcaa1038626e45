// Actions answer: one decision per action pending approval.
import { type KeyboardEvent, type ReactNode, useEffect, useState } from "react";
import { ANSWER_FORM, useShortcuts, type Shortcut } from "../hooks/shortcuts.ts";
import { Button } from "../ui/controls.tsx";
import { showToast } from "../ui/toast.tsx";
import { formatDecisionLabel } from "./model/draft.ts";
import type { IntentKind } from "./model/intent.ts";
import {
  type Action,
  DECISIONS,
  type Decision,
  type DecisionType,
  type Request,
  allows,
  buildRequestAnswer,
  approvable,
  readDecisions,
  readMessage,
} from "./model/request.ts";
import { sendLabel, type EditorProps } from "./editor-props.ts";
import { DecisionEditor } from "./decision-editor.tsx";

type Actions = Request & { readonly kind: "actions" };

const WORDS: Readonly<Record<DecisionType, readonly [label: string, key: string]>> = {
  approve: ["Approve", "a"],
  edit: ["Edit", "e"],
  reject: ["Reject", "r"],
  respond: ["Respond", "m"],
  ignore: ["Ignore", "i"],
};

export function ActionsAnswer({
  request,
  item,
  onReview,
  confirms,
  wanted,
  undone,
}: EditorProps & { readonly request: Actions }): ReactNode {
  const { actions } = request;
  const { dangerous } = item;
  const answer = useDecisions(request, onReview, undone);
  const { decisions, decide, approveRest, review } = answer;
  const rest = approvable(actions, decisions);
  const run: Readonly<Record<IntentKind, () => void>> = {
    approve: () => (actions.length === 1 ? decide("approve") : approveRest()),
    edit: () => decide("edit"),
    reject: () => decide("reject"),
    respond: () => decide("respond"),
    ignore: () => decide("ignore"),
  };
  const shortcuts: readonly Shortcut[] = [
    {
      keys: "a",
      label: actions.length === 1 ? "Approve" : "Approve the undecided actions",
      run: run.approve,
      once: true,
    },
    { keys: "e", label: "Edit the arguments", run: run.edit },
    { keys: "r", label: "Reject, with a message", run: run.reject },
    { keys: "m", label: "Respond with a message", run: run.respond },
    { keys: "i", label: "Ignore", run: run.ignore, once: true },
  ];
  useShortcuts(
    "This item",
    shortcuts.map((one) => ({ ...one, form: ANSWER_FORM })),
  );
  useEffect(() => {
    if (wanted !== null) run[wanted]();
    // Depends on the intent only, not on the identity of the functions.
  }, [wanted]);
  const decided = decisions.filter((one) => one !== null).length;
  return (
    <form
      className="answer"
      onKeyDown={keepEnter}
      onSubmit={(event) => {
        event.preventDefault();
        review(decisions);
      }}
    >
      {actions.map((action, at) => (
        <ActionDecision key={at} action={action} at={at} dangerous={dangerous} answer={answer} />
      ))}
      <div className="answer-foot">
        {actions.length === 1 || rest.length === 0 ? null : (
          <Button {...(dangerous ? DANGER : SAFE)} hint="a" onClick={approveRest}>
            {approveLabel(rest.length, decided, actions.length)}
          </Button>
        )}
        {decided === 0 ? null : (
          <Button {...(dangerous ? DANGER : SAFE)} submit disabled={decided < actions.length || answer.isFaulty}>
            {sendLabel(confirms)}
          </Button>
        )}
      </div>
    </form>
  );
}

/** Enter in one edited argument must not send all decisions: Ctrl+Enter and the button do. */
function keepEnter(event: KeyboardEvent): void {
  const { ctrlKey, metaKey, key, target } = event;
  if (key === "Enter" && !ctrlKey && !metaKey && target instanceof HTMLInputElement) event.preventDefault();
}

type Decisions = readonly (Decision | null)[];

interface DecisionsState {
  /** By place of the action; null while undecided. */
  readonly decisions: Decisions;
  /** Place of the current action. */
  readonly active: number;
  readonly setActive: (at: number) => void;
  readonly isFaulty: boolean;
  readonly put: (at: number, decision: Decision) => void;
  readonly setFault: (at: number, isFaulty: boolean) => void;
  /** Decides one action, the current one by default; approving a single action only needs the confirmation. */
  readonly decide: (kind: DecisionType, at?: number) => void;
  /** Approves the undecided actions that allow it; when none is left undecided, opens the confirmation. */
  readonly approveRest: () => void;
  readonly review: (all: Decisions) => void;
}

function useDecisions(
  request: Actions,
  onReview: EditorProps["onReview"],
  undone: EditorProps["undone"],
): DecisionsState {
  const { actions } = request;
  const [decisions, setDecisions] = useState<Decisions>(() => {
    const before = undone === undefined ? null : readDecisions(request, undone);
    return before ?? actions.map(() => null);
  });
  const [faulty, setFaulty] = useState<ReadonlySet<number>>(new Set());
  const [active, setActive] = useState(0);
  const setFault = (at: number, isFaulty: boolean): void =>
    setFaulty((all) => new Set(isFaulty ? [...all, at] : [...all].filter((index) => index !== at)));
  const review = (all: Decisions): void => {
    const made = all.filter((one) => one !== null);
    if (made.length < actions.length)
      return void showToast(`${actions.length - made.length} actions are undecided.`, { tone: "amber" });
    if (faulty.size > 0) return void showToast("Some input is not valid yet.", { tone: "amber" });
    onReview({
      label: formatDecisionLabel(actions, made),
      resume: buildRequestAnswer(request, made),
      parts: made.map((decision, at) => ({ kind: "decision", action: actions[at] as Action, decision })),
    });
  };
  const decide = (kind: DecisionType, at = active): void => {
    const action = actions[at];
    if (action === undefined) return;
    if (!allows(action, kind)) return void showToast(`${action.name} cannot be ${PAST[kind]} here.`, { tone: "amber" });
    const all = decisions.with(at, startDecision(kind, action, decisions[at] ?? null));
    setActive(at);
    setDecisions(all);
    setFault(at, false);
    if (actions.length === 1 && (kind === "approve" || kind === "ignore")) review(all);
  };
  const approveRest = (): void => {
    const rest = approvable(actions, decisions);
    const all = decisions.map((one, at) => (rest.includes(at) ? ({ type: "approve" } as const) : one));
    setDecisions(all);
    const left = all.findIndex((one) => one === null);
    if (left === -1) return review(all);
    setActive(left);
    showToast(`${actions[left]?.name ?? "An action"} cannot be approved here: decide it.`, { tone: "amber" });
  };
  const put = (at: number, decision: Decision): void => setDecisions((all) => all.with(at, decision));
  const isFaulty = faulty.size > 0;
  return { decisions, active, setActive, isFaulty, put, setFault, decide, approveRest, review };
}

function ActionDecision({
  action,
  at,
  dangerous,
  answer,
}: {
  readonly action: Action;
  readonly at: number;
  readonly dangerous: boolean;
  readonly answer: DecisionsState;
}): ReactNode {
  const decision = answer.decisions[at] ?? null;
  const of = answer.decisions.length;
  const isObvious = of === 1 && answer.decisions.every((one) => one === null);
  return (
    <div className={at === answer.active ? "decide active" : "decide"} onFocus={() => answer.setActive(at)}>
      {of === 1 ? null : (
        <h3 className="row">
          <span className="place">{at + 1}</span>
          <code>{action.name}</code>
        </h3>
      )}
      <div className="decide-buttons" role="group" aria-label={`Decision about ${action.name}`}>
        {DECISIONS.filter((kind) => allows(action, kind)).map((kind) => (
          <Button
            key={kind}
            {...chooseLook(kind, isObvious, dangerous)}
            pressed={decision?.type === kind}
            hint={WORDS[kind][1]}
            onClick={() => answer.decide(kind, at)}
          >
            {WORDS[kind][0]}
          </Button>
        ))}
      </div>
      <DecisionEditor
        key={decision?.type}
        action={action}
        decision={decision}
        onChange={(changed) => answer.put(at, changed)}
        onFault={(isFaulty) => answer.setFault(at, isFaulty)}
      />
    </div>
  );
}

/** "Approve all 3", "Approve 2 of 3" where one may not be approved, "Approve the rest". */
function approveLabel(rest: number, decided: number, all: number): string {
  if (rest === all) return `Approve all ${all}`;
  return rest + decided === all ? "Approve the rest" : `Approve ${rest} of ${all}`;
}

const PAST: Readonly<Record<DecisionType, string>> = {
  approve: "approved",
  edit: "edited",
  reject: "rejected",
  respond: "responded to",
  ignore: "ignored",
};

const SAFE = { kind: "primary" } as const;
/** Look of the button that lets a marked request happen. */
const DANGER = { kind: "danger", icon: "warning" } as const;

/** One primary button, until another decision exists. */
function chooseLook(kind: DecisionType, obvious: boolean, dangerous: boolean): typeof SAFE | typeof DANGER | object {
  if (dangerous && (kind === "approve" || kind === "edit")) return DANGER;
  if (kind === "approve" && obvious) return SAFE;
  return kind === "reject" && !dangerous ? { kind: "danger" } : {};
}

function startDecision(kind: DecisionType, action: Action, before: Decision | null): Decision {
  if (before?.type === kind) return before;
  if (kind === "edit") return { type: kind, args: action.args };
  if (kind === "reject") return { type: kind, message: readMessage(before) ?? "" };
  if (kind === "respond") return { type: kind, value: readMessage(before) ?? "" };
  return { type: kind };
}
