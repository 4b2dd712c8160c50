// Calls every route of the console with valid headers, parameters and bodies.
import { HOST } from "@/tests/support/harness";
import { matchRoute, type Route } from "@/tests/support/routes";

/** Placeholder for ids in the paths of `loadRoutes`. */
export const ID = "00000000-0000-4000-8000-000000000000";
export const UPLOAD_BODY = '--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\na\r\n--x--\r\n';
/** Bodies for routes that would refuse an empty object before calling the service. */
export const routeBodies: Readonly<Record<string, unknown>> = {
  submitPrompt: { prompt: { "1": { class_type: "A", inputs: {} } } },
  manageQueue: { clear: true },
  manageHistory: { clear: true },
  addTags: { tags: ["a"] },
  removeTags: { tags: ["a"] },
  createAssetFromHash: { hash: "blake3:aa", tags: ["a"] },
  chooseArchive: { query: "" },
  downloadAsset: { source_url: "https://huggingface.co/a" },
  cancelJobs: { job_ids: [ID] },
  stopJobs: { ids: [ID] },
  exportJobs: { format: "json", ids: [ID] },
  updateAsset: { name: "a" },
};

/** `id` replaces the ids in the path. The default body is an empty object or form. */
type RouteRequest = { headers?: Record<string, string>; query?: string; body?: BodyInit; id?: string };

export const isRead = ({ method }: Route) => method === "GET" || method === "HEAD";
export const getLabel = ({ method, path }: Route) => `${method} ${path}`;
export const withLabels = (routes: readonly Route[]) => routes.map((route) => [getLabel(route), route] as const);

const isUpload = (route: Route) => !isRead(route) && (route.path.startsWith("/api/upload") || route.path === "/api/assets");

/** Returns a body that the route accepts. `bodies` adds bodies by action. */
export function createBody(route: Route, bodies: Readonly<Record<string, unknown>> = {}): string {
  return isUpload(route) ? UPLOAD_BODY : JSON.stringify({ ...routeBodies, ...bodies }[route.guard?.action ?? ""] ?? {});
}

export async function callRoute(route: Route, { headers = {}, query = "", body, id = ID }: RouteRequest = {}): Promise<Response> {
  const path = route.path.replaceAll(ID, id);
  const type = isUpload(route) ? "multipart/form-data; boundary=x" : "application/json";
  const init = {
    method: route.method,
    headers: { host: HOST, ...(!isRead(route) && { origin: `http://${HOST}`, "content-type": type }), ...headers },
    ...(!isRead(route) && { body: body ?? (isUpload(route) ? "--x--\r\n" : "{}"), duplex: "half" }),
  };
  const params = Promise.resolve(matchRoute(path)?.params ?? {});
  return route.handler(new Request(`http://${HOST}${path}${query}`, init), { params });
}
