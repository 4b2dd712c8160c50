// Checks a real response against the OpenAPI document: path, method, status and body.
import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { findProblems } from "./json-schema";

export type Exchange = { method: string; path: string; status: number; contentType: string; text: string };

const getNested = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), value);

export function createResolver(document: unknown) {
  return (ref: string): unknown => {
    const resolved = ref.startsWith("#/") ? getNested(document, ...ref.slice(2).split("/")) : undefined;
    if (resolved === undefined) throw new Error(`unresolved reference: ${ref}`);
    return resolved;
  };
}

/** Finds the operation of a request. Fixed paths win over parameters, and moving user data wins over writing it. */
export function findOperation(document: unknown, method: string, path: string): { id: string; operation: JsonObject } | undefined {
  const paths = getNested(document, "paths");
  const matching = Object.entries(isObject(paths) ? paths : {})
    .filter(([template]) => toPattern(template).test(path))
    .sort(([a], [b]) => getRank(a) - getRank(b));
  for (const [, item] of matching) {
    const operation = getNested(item, method.toLowerCase()) ?? (method === "HEAD" ? getNested(item, "get") : undefined);
    if (isObject(operation)) return { id: String(operation.operationId), operation };
  }
  return undefined;
}

const getRank = (template: string) => (template.endsWith("/move/{dest}") ? 0 : template.split("{").length);

function toPattern(template: string): RegExp {
  const parameterPattern = template.startsWith("/api/userdata/") ? ".+" : "[^/]+";
  return new RegExp(`^${template.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, parameterPattern)}$`);
}

/** Returns the parts of the response that the document doesn't describe. */
export function findUndescribed(document: unknown, { method, path, status, contentType, text }: Exchange): string[] {
  const operation = findOperation(document, method, path);
  if (!operation) return [401, 404, 405].includes(status) ? [] : [`${method} ${path} responded with ${status} and is not in the document`];
  const response = getNested(operation.operation, "responses", String(status));
  if (response === undefined) return [`${operation.id}: ${status} is not in the document: ${text.slice(0, 200)}`];
  const content = getNested(response, "content");
  if (!isObject(content)) return text === "" ? [] : [`${operation.id}: ${status} has a body, but none is described`];
  const [type = "", media] = Object.entries(content)[0] ?? [];
  if (method === "HEAD") return [];
  if (type !== "*/*" && contentType.split(";")[0] !== type) return [`${operation.id}: ${status} is ${contentType}, not ${type}`];
  if (type !== "application/json") return [];
  return findProblems(JSON.parse(text), getNested(media, "schema"), createResolver(document)).map(
    (problem) => `${operation.id} ${status} ${problem}`,
  );
}
