// What a person, a check or an upload changes of the workflow that is open. Pure.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { own } from "@/lib/contract/json/own";
import { withChoice } from "@/lib/contract/nodes/dynamic-inputs";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { readExtra } from "./form/extra-data";
import { withInput } from "./form/form-model";
import { leftOut } from "./form/left-out";
import { type OpenedAction, type RunState, type SubmitError } from "./run-state";
import { nameOfFile } from "./workflow/file-name";
import { type OpenWorkflow } from "./workflow/opened";

export function changeOpened(state: RunState, opened: OpenWorkflow, action: OpenedAction): RunState {
  switch (action.type) {
    case "edited":
      return edited(state, opened, action);
    case "advanced":
      return { ...state, opened: { ...opened, advanced: action.advanced }, submitError: afterEdit(state.submitError, state.errors) };
    case "secrets-left-out":
      return { ...state, opened: withoutSecrets(opened, action.places) };
    case "saved": {
      const isEdited = opened.isEdited && opened.graph !== action.graph;
      return { ...state, opened: { ...opened, stored: action.path, name: nameOfFile(action.path), isEdited } };
    }
    case "named":
      return { ...state, opened: { ...opened, ownNames: { ...opened.ownNames, [action.value]: action.name } } };
    case "upload": {
      const others = state.uploading.filter((key) => key !== action.key);
      return { ...state, uploading: action.isRunning ? [...others, action.key] : others };
    }
    case "checked": {
      const { code, errors } = action.found;
      const kind = code === "prompt_no_outputs" ? "refused" : "invalid";
      return { ...state, submitError: { kind, failure: { code, message: "", status: 0 } }, errors, attention: state.attention + 1 };
    }
  }
}

function edited(state: RunState, opened: OpenWorkflow, edit: Extract<OpenedAction, { type: "edited" }>): RunState {
  const { nodeId, name, value, catalogue } = edit;
  const changed = withInput(opened.graph, nodeId, name, value);
  const graph = changed === opened.graph ? changed : (withChoice(opened.graph, nodeId, edit, catalogue) ?? changed);
  if (graph === opened.graph) return state;
  const errors = withoutField(state.errors, nodeId, name);
  return { ...state, opened: { ...opened, graph, isEdited: true }, errors, submitError: afterEdit(state.submitError, errors) };
}

/** After an edit, messages about an earlier run no longer apply, except for one that may have started or still names a node. */
function afterEdit(submitError: SubmitError | undefined, errors: NodeErrors): SubmitError | undefined {
  const stays = submitError?.kind === "unknown" || (submitError?.kind === "invalid" && Object.keys(errors).length > 0);
  return stays ? submitError : undefined;
}

/** Once a value is changed, the service's error about the old value no longer applies. */
function withoutField(errors: NodeErrors, nodeId: string, name: string): NodeErrors {
  const entry = own(errors, nodeId);
  if (!entry) return errors;
  const left = entry.errors.filter(({ extra_info }) => extra_info.input_name !== name);
  const { [nodeId]: _, ...others } = errors;
  return left.length === 0 ? others : { ...others, [nodeId]: { ...entry, errors: left } };
}

/** `sent` is forgotten: the workflow is no longer what was sent. */
function withoutSecrets(opened: OpenWorkflow, places: readonly SecretPlace[]): OpenWorkflow {
  const left = leftOut({ graph: opened.graph, extraData: opened.extraData }, places);
  const extra = readExtra(opened.advanced?.extra ?? "");
  const written = extra.ok ? leftOut({ graph: {}, extraData: extra.value }, places).extraData : undefined;
  const isWritten = written !== undefined && Object.keys(written).length > 0;
  const advanced = { ...opened.advanced, ...(extra.ok && { extra: isWritten ? writeExactJson(written, 2) : "" }) };
  const isEdited = opened.isEdited || left.graph !== opened.graph;
  return { ...opened, ...left, advanced, isEdited, leftOut: places, sent: undefined };
}
