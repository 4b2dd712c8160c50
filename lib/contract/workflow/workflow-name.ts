// The name of a workflow: the editor's own name if it was submitted with the graph, else a short id. Free of zod: first load.

import { isObject, type JsonObject, objectOf, textOf } from "../json/json";

const MAX_NAME_LENGTH = 200;

export function drawingIn(extraData: unknown): JsonObject | undefined {
  return objectOf(objectOf(objectOf(extraData)?.extra_pnginfo)?.workflow);
}

export function nameInExtraData(extraData: unknown): string | undefined {
  return textOf(drawingIn(extraData)?.name)?.trim().slice(0, MAX_NAME_LENGTH);
}

/** A workflow without a name is named after its id, marked with #: eight digits alone could be taken for a name. */
export function namelessWorkflow(id: string): string {
  return `#${id.slice(0, 8)}`;
}

/** The name contains an id and means nothing to most people. */
export function isNameless(name: string): boolean {
  return /^#[0-9a-f]{8}$/i.test(name);
}

/** From a job in any view: the submitted name, else the last known one, else one made from the workflow's or the job's id. */
export function workflowName(job: { id: string; workflow_id?: string; workflow_name?: string; workflow?: unknown }): string {
  const submitted = isObject(job.workflow) ? nameInExtraData(job.workflow.extra_data) : undefined;
  return submitted ?? textOf(job.workflow_name) ?? namelessWorkflow(textOf(job.workflow_id) ?? job.id);
}
