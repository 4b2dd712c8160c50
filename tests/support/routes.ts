// Finds all of the console's route handlers on disk, so that a suite can't miss one.
import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { type Guard, type Handler } from "@/lib/server/bff/guard";

const root = join(process.cwd(), "app");
const methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"] as const;

export type RouteFile = { file: string; segments: string[] };
export type Route = { method: string; path: string; file: string; handler: Handler; guard: Guard | undefined };

let routeFiles: RouteFile[] | undefined;

/** Lists static folders before [one], and [one] before [...rest]. Cached, since every request uses it. */
export function listRouteFiles(): RouteFile[] {
  return (routeFiles ??= readdirSync(join(root, "api"), { recursive: true, encoding: "utf8" })
    .filter((name) => /(^|[\\/])route\.tsx?$/.test(name))
    .map((name) => join(root, "api", name))
    .sort()
    .map((file) => ({ file, segments: relative(root, file).split(sep).slice(0, -1) }))
    .sort((item, other) => getRank(item).localeCompare(getRank(other))));
}

function getRank({ segments }: RouteFile): string {
  return segments.map((segment) => (segment.startsWith("[...") ? 2 : segment.startsWith("[") ? 1 : 0)).join("");
}

/** Returns every handler with its path. Folders in brackets get a placeholder value. */
export async function loadRoutes(): Promise<Route[]> {
  const routes: Route[] = [];
  for (const { file, segments } of listRouteFiles()) {
    const handlers = await loadHandlers(file);
    const path = `/${segments.map((segment) => (segment.startsWith("[") ? "00000000-0000-4000-8000-000000000000" : segment)).join("/")}`;
    for (const [method, handler] of handlers) routes.push({ method, path, file, handler, guard: handler.guard });
  }
  return routes;
}

export async function loadHandlers(file: string): Promise<Map<string, Handler>> {
  const exported: Partial<Record<string, Handler>> = await import(file);
  return new Map(methods.flatMap((method) => (exported[method] ? [[method, exported[method]] as const] : [])));
}

/** Values are decoded, as Next passes them. */
export function matchRoute(pathname: string): { file: string; params: Record<string, string | string[]> } | undefined {
  const parts = pathname.split("/").filter((part) => part !== "");
  for (const route of listRouteFiles()) {
    const params = matchSegments(route.segments, parts);
    if (params) return { file: route.file, params };
  }
  return undefined;
}

function matchSegments(segments: readonly string[], parts: readonly string[]): Record<string, string | string[]> | undefined {
  const params: Record<string, string | string[]> = {};
  for (const [index, segment] of segments.entries()) {
    const rest = segment.match(/^\[\.\.\.(\w+)\]$/)?.[1];
    if (rest !== undefined) return parts.length > index ? { ...params, [rest]: parts.slice(index) } : undefined;
    const value = segment.match(/^\[(\w+)\]$/)?.[1];
    const part = parts[index];
    if (part === undefined || (value === undefined && part !== segment)) return undefined;
    if (value !== undefined) params[value] = part;
  }
  return segments.length === parts.length ? params : undefined;
}
