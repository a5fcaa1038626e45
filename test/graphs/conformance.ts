// Graphs behind the tools that the conformance suite of MCP calls, by the suite's names.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ message: Annotation<string>, text: Annotation<string>, answer: Annotation<unknown> });

/** One node, which `work` fills. */
const buildGraph = (work: (state: typeof State.State) => Partial<typeof State.State>) =>
  new StateGraph(State).addNode("work", work).addEdge("__start__", "work").compile();

export const simpleText = buildGraph(() => ({ text: "This is a simple text response for testing." }));

export const errorHandling = buildGraph(() => {
  throw new Error("This tool intentionally returns an error for testing");
});

/** A notification for each step. */
export const progress = new StateGraph(State)
  .addNode("first", () => ({}))
  .addNode("second", () => ({}))
  .addNode("third", () => ({ text: "done" }))
  .addEdge("__start__", "first")
  .addEdge("first", "second")
  .addEdge("second", "third")
  .compile();

const asking = (properties: object, required: readonly string[] = []) =>
  buildGraph(({ message }: { readonly message?: string }) => ({
    answer: interrupt({
      question: message ?? "Please fill in the form",
      response_schema: { type: "object", properties, required },
    }),
  }));

const text = (description: string) => ({ type: "string", description });

export const elicitation = asking({ username: text("User's response"), email: text("User's email address") }, [
  "username",
  "email",
]);

export const elicitationDefaults = asking({
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
});

const titled = (values: readonly string[], titles: readonly string[]) =>
  values.map((value, index) => ({ const: value, title: titles[index] }));

export const elicitationEnums = asking({
  untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
  titledSingle: {
    type: "string",
    oneOf: titled(["value1", "value2", "value3"], ["First Option", "Second Option", "Third Option"]),
  },
  legacyEnum: {
    type: "string",
    enum: ["opt1", "opt2", "opt3"],
    enumNames: ["Option One", "Option Two", "Option Three"],
  },
  untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
  titledMulti: {
    type: "array",
    items: { anyOf: titled(["value1", "value2", "value3"], ["First Choice", "Second Choice", "Third Choice"]) },
  },
});
