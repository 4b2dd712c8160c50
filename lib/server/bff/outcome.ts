// A summary of the service's answer to a change, short enough for the audit log: ids and counts, no content.

import "server-only";

const LONGEST = 500;
const written = ["id", "prompt_id", "task_id", "name", "path", "code", "cleared", "created_new"] as const;
const counted = ["deleted", "added", "removed", "cancelled", "stopped", "stopping"] as const;

export function outcomeOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const parts: string[] = [];
  for (const name of written) {
    const field = fields.get(name);
    if (typeof field === "string" || typeof field === "boolean") parts.push(`${name}=${field}`);
  }
  for (const name of counted) {
    const field = fields.get(name);
    if (Array.isArray(field))
      parts.push(`${name}=${field.length}${field.length > 0 ? ` (${field.slice(0, 5).map(String).join(", ")})` : ""}`);
  }
  return parts.length === 0 ? undefined : parts.join(" ").slice(0, LONGEST);
}
