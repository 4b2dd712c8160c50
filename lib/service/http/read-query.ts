// Parses a query or a path with the contract's schema. Errors name the parameter. Only lists reject unknown parameters.

import { type z } from "zod";
import { formOfParameter, unknownFilter } from "@/lib/contract/schemas/lenient";
import { isDeeperThan } from "@/lib/shared/json-depth";
import { ServiceError } from "../service-error";
import { type ServiceSettings } from "../settings";

type Limits = Pick<ServiceSettings, "maxJsonDepth">;

export function readQuery<S extends z.ZodObject>(request: Request, schema: S, { maxJsonDepth }: Limits): z.output<S> {
  const values = new Map<string, string>();
  const search = new URL(request.url).searchParams;
  const unknown = unknownFilter(schema, search.keys());
  if (unknown) throw invalid("INVALID_QUERY", [unknown]);
  for (const [name, value] of search) {
    if (!Object.hasOwn(schema.shape, name)) continue;
    // If a parameter is given twice, one value would be lost, or both would be read as a list; but a list is sent as one text with commas.
    if (values.has(name)) throw refuse([{ field: name, message: "is given more than once" }]);
    // How deep JSON may be nested is a setting, so the contract cannot check it.
    if (formOfParameter(schema, name)?.kind === "object-text" && isDeeperThan(value, maxJsonDepth))
      throw refuse([{ field: name, message: `is nested more than ${maxJsonDepth} levels deep` }]);
    values.set(name, value);
  }
  const parsed = schema.safeParse(Object.fromEntries(values));
  if (parsed.success) return parsed.data;
  // The sender wrote the list as one text: a position inside it would mean nothing to the sender.
  throw refuse(toIssues(parsed.error).map(({ field, message }) => ({ field: field.split(".")[0] ?? field, message })));
}

const tagFilters = new Set(["include_tags", "exclude_tags"]);

function refuse(issues: Issue[]): ServiceError {
  return invalid(issues.every(({ field }) => tagFilters.has(field)) ? "INVALID_TAG_FILTER" : "INVALID_QUERY", issues);
}

export type Issue = { field: string; message: string };

export function toIssues(error: z.ZodError): Issue[] {
  return error.issues.map((issue) => ({
    field: issue.code === "unrecognized_keys" ? issue.keys.join(", ") : issue.path.map(String).join("."),
    message: messageOf(issue),
  }));
}

/** If a union has no message of its own, the branch that came closest says most. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_union" || issue.message !== "Invalid input") return issue.message;
  const inner = issue.errors.flat().find((one) => one.code !== "invalid_type") ?? issue.errors.flat()[0];
  return inner ? messageOf(inner) : issue.message;
}

export function invalid(code: "INVALID_QUERY" | "INVALID_TAG_FILTER" | "INVALID_BODY", issues: Issue[]): ServiceError {
  return new ServiceError(code, issues.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; "), issues);
}
