// The section `ui` of langgraph.json.
export interface UiConfig {
  /** Name → file of the component, relative to the folder. */
  readonly components: Readonly<Record<string, string>>;
  /** Packages that the page provides. */
  readonly shared: readonly string[];
}
