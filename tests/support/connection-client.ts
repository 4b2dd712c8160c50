// Requests to one connection of a console, and fake services behind it.
import { type Role } from "@/lib/contract/members/roles";
import { type Harness, type HarnessRequest } from "./harness";
import { openTestServer } from "./servers";

export const API_KEY = "comfyui-0123456789abcdef0123456789abcdef";

/** Sends requests to one connection, by default as `as`. */
export function createConnectionClient(harness: Harness, connection: string, as: Role = "viewer") {
  const send = (path: string, options: HarnessRequest = {}) =>
    harness.request(`${path}${path.includes("?") ? "&" : "?"}connection=${connection}`, { as, ...options });
  return {
    connection,
    send,
    getJson: async (path: string, options?: HarnessRequest) => (await send(path, options)).json(),
    post: (path: string, json?: unknown, options?: HarnessRequest) => send(path, { method: "POST", json, ...options }),
  };
}

/** Starts a fake service and connects the console to it, without a check. */
export async function connectService(
  harness: Harness,
  respond: Parameters<typeof openTestServer>[0],
  { as, apiKey = API_KEY }: { as?: Role; apiKey?: string } = {},
) {
  const server = await openTestServer(respond);
  return { server, ...createConnectionClient(harness, await harness.connect(server.url, apiKey), as) };
}

/** Saves a shared connection through the console, which detects a local server. */
export async function connectLocalServer(harness: Harness, baseUrl: string, as?: Role) {
  const json = { name: baseUrl, baseUrl, shared: true };
  const response = await harness.request("/api/console/connections", { as: "owner", method: "POST", json });
  const { connection }: { connection: { id: string } } = await response.json();
  return createConnectionClient(harness, connection.id, as);
}

/** The response of a service that lists all its jobs on one page. */
export const createJobPage = (jobs: readonly object[]) => ({
  jobs,
  pagination: { offset: 0, limit: 100, total: jobs.length, has_more: false },
});
