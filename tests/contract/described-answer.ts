// Checks a real response against the OpenAPI document: path, method, status and body.
import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { findProblems } from "./json-schema";

export type Exchange = { method: string; path: string; status: number; contentType: string; text: string };

const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), value);

export function createResolver(document: unknown) {
  return (ref: string): unknown => {
    const resolved = ref.startsWith("#/") ? at(document, ...ref.slice(2).split("/")) : undefined;
    if (resolved === undefined) throw new Error(`${ref} leads nowhere`);
    return resolved;
  };
}

/** The document's operation for a request. Fixed paths win over those with parameters, the move of userdata over the write. */
export function findOperation(document: unknown, method: string, path: string): { id: string; operation: JsonObject } | undefined {
  const paths = at(document, "paths");
  const matching = Object.entries(isObject(paths) ? paths : {})
    .filter(([template]) => toPattern(template).test(path))
    .sort(([a], [b]) => rank(a) - rank(b));
  for (const [, item] of matching) {
    const operation = at(item, method.toLowerCase()) ?? (method === "HEAD" ? at(item, "get") : undefined);
    if (isObject(operation)) return { id: String(operation.operationId), operation };
  }
  return undefined;
}

const rank = (template: string) => (template.endsWith("/move/{dest}") ? 0 : template.split("{").length);

function toPattern(template: string): RegExp {
  const any = template.startsWith("/api/userdata/") ? ".+" : "[^/]+";
  return new RegExp(`^${template.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, any)}$`);
}

/** The parts of the response that the document doesn't describe. */
export function undescribed(document: unknown, { method, path, status, contentType, text }: Exchange): string[] {
  const operation = findOperation(document, method, path);
  if (!operation) return [401, 404, 405].includes(status) ? [] : [`${method} ${path} answered ${status} and is not in the document`];
  const response = at(operation.operation, "responses", String(status));
  if (response === undefined) return [`${operation.id}: ${status} is not in the document: ${text.slice(0, 200)}`];
  const content = at(response, "content");
  if (!isObject(content)) return text === "" ? [] : [`${operation.id}: ${status} has a body and none is described`];
  const [type = "", media] = Object.entries(content)[0] ?? [];
  if (method === "HEAD") return [];
  if (type !== "*/*" && contentType.split(";")[0] !== type) return [`${operation.id}: ${status} is ${contentType}, not ${type}`];
  if (type !== "application/json") return [];
  return findProblems(JSON.parse(text), at(media, "schema"), createResolver(document)).map(
    (problem) => `${operation.id} ${status} ${problem}`,
  );
}
