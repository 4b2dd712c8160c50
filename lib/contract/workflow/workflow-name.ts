// The name of a workflow: the editor's name if it was submitted with the graph, or a short id. Does not import zod.

import { asObject, asText, isObject, type JsonObject } from "../json/json";

const MAX_NAME_LENGTH = 200;

export function getDrawing(extraData: unknown): JsonObject | undefined {
  return asObject(asObject(asObject(extraData)?.extra_pnginfo)?.workflow);
}

export function getNameInExtraData(extraData: unknown): string | undefined {
  return asText(getDrawing(extraData)?.name)?.trim().slice(0, MAX_NAME_LENGTH);
}

/** Adds # to the short id, because eight digits alone could be a name. */
export function formatNamelessWorkflow(id: string): string {
  return `#${id.slice(0, 8)}`;
}

/** Returns true if the name is only a short id. */
export function isNameless(name: string): boolean {
  return /^#[0-9a-f]{8}$/i.test(name);
}

/** Returns the submitted name, the last known name, or a short form of the workflow's or job's id. */
export function getWorkflowName(job: { id: string; workflow_id?: string; workflow_name?: string; workflow?: unknown }): string {
  const submittedName = isObject(job.workflow) ? getNameInExtraData(job.workflow.extra_data) : undefined;
  return submittedName ?? asText(job.workflow_name) ?? formatNamelessWorkflow(asText(job.workflow_id) ?? job.id);
}
