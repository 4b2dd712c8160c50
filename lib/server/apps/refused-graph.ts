// A service's refusal of a filled graph in the app's words: names inputs by their labels, and nothing else in the graph.
// Guarantees: pure; nothing about a node is sent, except its id to viewers who may see the workflow.

import "server-only";
import { type AppInput, type AppInputProblem, type AppRunError } from "@/lib/contract/apps/app";
import { type AppProblem, isFileKind, problemOf, problemSentence } from "@/lib/contract/apps/fill";
import { type Failure } from "@/lib/contract/failure";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { readInputSpec } from "@/lib/contract/nodes/input-spec";
import { type NodeError } from "@/lib/contract/schemas/execution";
import { type Viewer } from "../auth/viewer";
import { refusal } from "../bff/guard";
import { type StoredApp } from "../store/apps/apps";
import { seesWorkflows } from "./open-app";

type Definition = Pick<StoredApp["definition"], "inputs">;

/** The service's codes for a wrong value, as the app's codes. */
const codes: Readonly<Record<string, AppProblem["code"]>> = {
  required_input_missing: "missing",
  invalid_input_type: "wrong_type",
  value_smaller_than_min: "too_small",
  value_bigger_than_max: "too_large",
  value_not_in_list: "not_a_choice",
};

/** Failures that say nothing about the graph, such as an outage or a quota, stay as they are. */
export function inAppWords(viewer: Viewer, definition: Definition, failure: Failure): Failure {
  const refused = refusedGraph(definition, failure);
  if (!refused) return failure;
  const { message, problems, node } = refused;
  if (problems) return refusal("UNPROCESSABLE", message, { problems });
  return refusal("UNPROCESSABLE", message, { reason: "workflow", ...(node !== undefined && seesWorkflows(viewer) && { node }) });
}

/** With the node, which callers must show only to those who may see workflows. Undefined if the failure says nothing about the graph. */
export function refusedGraph(definition: Definition, { nodeErrors, promptError, status }: Failure): AppRunError | undefined {
  if (!nodeErrors && !promptError && status !== 400 && status !== 422) return undefined;
  const problems = problemsOfNodes(definition, nodeErrors);
  const found = Object.keys(nodeErrors ?? {})[0] ?? textOf(objectOf(promptError?.extra_info)?.node_id);
  const node = found === undefined ? {} : { node: found };
  if (problems.length > 0) return { message: problems.slice(0, 5).map(sentenceOf).join(". "), code: "inputs", problems, ...node };
  const message = "The service refused this app's workflow. Whoever made the app can open it in Run and see why.";
  return { message, code: "workflow", ...node };
}

/** For an input with several errors, the first one. */
function problemsOfNodes({ inputs }: Definition, nodeErrors: Failure["nodeErrors"]): AppInputProblem[] {
  const found = new Map<string, AppInputProblem>();
  for (const [node, { errors }] of Object.entries(nodeErrors ?? {}))
    for (const error of errors) {
      const name = textOf(objectOf(error.extra_info)?.input_name);
      const input = inputs.find((one) => [one, ...(one.also ?? [])].some((place) => place.node === node && place.input === name));
      if (input && !found.has(input.name)) found.set(input.name, problemOfError(input, error));
    }
  return [...found.values()];
}

function problemOfError(input: AppInput, { type, message, extra_info: facts }: NodeError): AppInputProblem {
  const code = own(codes, type);
  // The file existed when the run was sent, but the service does not have it.
  if (isFileKind(input.control.kind) && type !== "required_input_missing") return problemOf(input, "not_yours");
  const spec = readInputSpec(input.input, objectOf(facts)?.input_config);
  const limit = spec.kind !== "number" ? undefined : code === "too_small" ? spec.min : code === "too_large" ? spec.max : undefined;
  const isBound = code === "too_small" || code === "too_large";
  if (code && isBound === (limit !== undefined)) return problemOf(input, code, limit);
  // The service's own sentence for this error is about the node.
  return type === "custom_validation_failed" || message === "" ? problemOf(input, "not_taken") : { ...named(input), message };
}

function named({ name, label }: AppInput): { input: string; label: string } {
  return { input: name, label };
}

function sentenceOf(problem: AppInputProblem): string {
  return "code" in problem ? problemSentence(problem) : `${problem.label}: ${problem.message}`;
}
