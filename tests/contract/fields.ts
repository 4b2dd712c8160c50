// The fields of each resource in docs/interface.md, with their JSON types. Fields with `?` may be absent or null.
import { expect } from "vitest";

type Kind = "text" | "uuid" | "date-time" | "integer" | "number" | "boolean" | "object" | "texts";
type Fields = Readonly<Record<string, Kind | `${Kind}?`>>;

export const assetFields: Fields = {
  id: "uuid",
  name: "text",
  size: "integer",
  created_at: "date-time",
  updated_at: "date-time",
  asset_hash: "text?",
  mime_type: "text?",
  tags: "texts?",
  user_metadata: "object?",
  preview_url: "text?",
  preview_id: "uuid?",
  prompt_id: "uuid?",
  last_access_time: "date-time?",
  is_immutable: "boolean?",
};
export const jobItemFields: Fields = {
  id: "uuid",
  status: "text",
  create_time: "integer",
  execution_error: "object?",
  preview_output: "object?",
  outputs_count: "integer?",
  workflow_id: "text?",
  execution_start_time: "number?",
  execution_end_time: "number?",
};
export const jobDetailFields: Fields = {
  id: "uuid",
  status: "text",
  create_time: "integer",
  update_time: "integer",
  workflow: "object?",
  execution_error: "object?",
  outputs: "object?",
  preview_output: "object?",
  outputs_count: "integer?",
  workflow_id: "text?",
  execution_status: "object?",
  execution_meta: "object?",
};
export const jobStatusFields: Fields = {
  id: "uuid",
  status: "text",
  created_at: "date-time",
  updated_at: "date-time",
  last_state_update: "date-time?",
  assigned_inference: "text?",
  error_message: "text?",
};
export const executionErrorFields: Fields = {
  node_id: "text",
  node_type: "text",
  exception_message: "text",
  exception_type: "text",
  traceback: "texts",
  current_inputs: "object",
  current_outputs: "object",
};
export const paginationFields: Fields = { offset: "integer", limit: "integer", total: "integer", has_more: "boolean" };
export const historyFields: Fields = {
  prompt_id: "uuid",
  create_time: "number",
  workflow_id: "text?",
  prompt: "object",
  outputs: "object",
  status: "object",
  meta: "object",
};
export const tagChangeFields: Fields = {
  total_tags: "texts",
  added: "texts",
  removed: "texts",
  already_present: "texts",
  not_present: "texts",
};
export const promptResponseFields: Fields = { prompt_id: "uuid", number: "integer", node_errors: "object" };
export const taskFields: Fields = {
  id: "uuid",
  status: "text",
  task_name: "text",
  payload: "object",
  create_time: "date-time",
  update_time: "date-time",
};
export const maskFields: Fields = { name: "text", subfolder: "text", type: "text", metadata: "object" };
export const maskMetadataFields: Fields = { is_mask: "boolean", original_hash: "text", mask_type: "text", related_files: "object" };

/** Asserts that every required field exists and each field has its type. `requiredOptional` names optional fields that must exist too. */
export function expectFields(value: unknown, fields: Fields, requiredOptional: readonly string[] = []): void {
  expect(value).toBeTypeOf("object");
  const entries = new Map(Object.entries(value ?? {}));
  for (const [name, kind] of Object.entries(fields)) {
    const entry = entries.get(name);
    if ((entry === undefined || entry === null) && kind.endsWith("?") && !requiredOptional.includes(name)) continue;
    expect(isKind(entry, kind.replace("?", "")), `${name} should be ${kind}: ${JSON.stringify(entry)}`).toBe(true);
  }
}

function isKind(value: unknown, kind: string): boolean {
  if (kind === "texts") return Array.isArray(value) && value.every((item) => typeof item === "string");
  if (kind === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (kind === "integer") return Number.isInteger(value);
  if (kind === "number" || kind === "boolean") return typeof value === kind;
  if (typeof value !== "string") return false;
  if (kind === "uuid") return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
  return kind === "text" || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value);
}
