// The name of a workflow: the editor's name if it was submitted with the graph, or a short id. Does not import zod.

import { asObject, asText, isObject, type JsonObject } from "../json/json";

const MAX_NAME_LENGTH = 200;

export function getDrawing(extraData: unknown): JsonObject | undefined {
  return asObject(asObject(asObject(extraData)?.extra_pnginfo)?.workflow);
}

export function getNameInExtraData(extraData: unknown): string | undefined {
  return asText(getDrawing(extraData)?.name)?.trim().slice(0, MAX_NAME_LENGTH);
}

/** Named after its id and marked with #, because eight digits alone could be a name. */
export function formatNamelessWorkflow(id: string): string {
  return `#${id.slice(0, 8)}`;
}

/** The name contains an id, which is not useful for most people. */
export function isNameless(name: string): boolean {
  return /^#[0-9a-f]{8}$/i.test(name);
}

/** The name of any view of a job: the submitted name, or the last known one, or one from the workflow's or job's id. */
export function getWorkflowName(job: { id: string; workflow_id?: string; workflow_name?: string; workflow?: unknown }): string {
  const submitted = isObject(job.workflow) ? getNameInExtraData(job.workflow.extra_data) : undefined;
  return submitted ?? asText(job.workflow_name) ?? formatNamelessWorkflow(asText(job.workflow_id) ?? job.id);
}
