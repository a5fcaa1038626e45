// Controls: the basic elements of every page. Plain elements with our classes; no state of their own.
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { useRefusal } from "../api/caller.ts";
import { problemMessage } from "../api/problem.ts";
import { Icon, type IconName } from "./icons.tsx";

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type"> {
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly icon?: IconName;
  /** The keyboard shortcut of the button. */
  readonly hint?: string;
  readonly submit?: boolean;
  /** A toggle. */
  readonly pressed?: boolean;
  /** Event that the action causes: the button is disabled, with the reason, for a role without it. */
  readonly needs?: string;
}

export function Button({
  kind = "plain",
  icon,
  hint,
  submit = false,
  pressed,
  needs,
  children,
  ...rest
}: ButtonProps): ReactNode {
  const refusal = useRefusal(needs);
  return (
    <button
      type={submit ? "submit" : "button"}
      className={`button ${pressed === true ? "pressed" : kind}`}
      {...(pressed === undefined ? {} : { "aria-pressed": pressed })}
      {...rest}
      {...(refusal === null ? {} : { disabled: true, title: refusal })}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
      {hint === undefined ? null : <Key keys={hint} />}
    </button>
  );
}

/** A button that shows an icon only. */
export function IconButton({
  icon,
  label,
  needs,
  ...rest
}: Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type"> & {
  readonly icon: IconName;
  readonly label: string;
  /** Like those of a Button. */
  readonly needs?: string;
}): ReactNode {
  const refusal = useRefusal(needs);
  const refused = refusal === null ? {} : { disabled: true, title: refusal };
  return (
    <button type="button" className="button quiet icon-only" aria-label={label} title={label} {...rest} {...refused}>
      <Icon name={icon} />
    </button>
  );
}

const IS_MAC = navigator.platform.startsWith("Mac");

/** Visual only: the shortcut list announces them, instead of every button. */
export function Key({ keys }: { readonly keys: string }): ReactNode {
  return (
    <kbd className="key" aria-hidden="true">
      {keys.replace("Mod", IS_MAC ? "⌘" : "Ctrl").replaceAll("+", " ")}
    </kbd>
  );
}

export type Tone = "neutral" | "accent" | "amber" | "red" | "green";

/** Beside whatever may do damage. */
export function DangerChip(): ReactNode {
  return (
    <span className="chip red" title="The request is marked as dangerous.">
      <Icon name="warning" />
      dangerous
    </span>
  );
}

export function Chip({
  tone = "neutral",
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <span className={`chip ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** A label with its control and its error. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="field">
      <label className="field">
        <span className="field-label">{label}</span>
        {children}
      </label>
      {error === undefined || error === null ? null : <span className="field-error">{error}</span>}
      {hint === undefined ? null : <span className="field-hint">{hint}</span>}
    </div>
  );
}

export function EmptyState({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The error, with a retry button. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }): ReactNode {
  return (
    <div className="failure" role="alert">
      <Icon name="warning" />
      <span>{problemMessage(error)}</span>
      {onRetry === undefined ? null : (
        <Button kind="quiet" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function Loading({ label = "Loading" }: { readonly label?: string }): ReactNode {
  return (
    <div className="loading" role="status">
      <span className="spinner" aria-hidden="true" />
      {label}…
    </div>
  );
}
