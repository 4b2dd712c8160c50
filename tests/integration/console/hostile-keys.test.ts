// Tests prototype pollution through request bodies, runner messages and service responses.
import fc from "fast-check";
import { expect, it } from "vitest";
import { createTraffic } from "@/lib/comfyui/socket";
import { graphSchema } from "@/lib/contract/schemas/graph";
import { listenToRunner } from "@/lib/service/runners/report-events";
import { createHarness } from "@/tests/support/harness";
import { createHostileJson, listPrototypeMembers } from "@/tests/support/hostile-keys";
import { loadRoutes, type Route } from "@/tests/support/routes";
import { openTestServer, startRunnerServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";
import { callRoute, getLabel, isRead } from "./route-requests";

const names = [
  ...["prompt", "extra_data", "inputs", "class_type", "name", "definition", "query", "columns", "items", "ids", "tags", "user_metadata"],
  ...["values", "graph", "access", "limits", "operations", "jobs", "assets", "history", "outputs", "status", "queue_running", "pagination"],
];
const routes = (await loadRoutes()).filter(({ path, guard }) => !path.startsWith("/api/auth/") && guard?.role !== "public");
const membersBefore = listPrototypeMembers();
let responseBody = "{}";
const service = await openTestServer((_, response) => response.writeHead(200, { "content-type": "application/json" }).end(responseBody));
const harness = await createHarness();
const { key } = await harness.console.serviceKeys().createKey("somebody");
const embeddedConnection = await harness.connect("http://embedded.invalid", key);
const externalConnection = await harness.connect(service.url, "some-key-of-a-service");

async function getStatus(route: Route, connection: string, body?: string): Promise<string> {
  const headers = { cookie: harness.getCookie("owner"), "content-type": "application/json" };
  const response = await callRoute(route, { headers, query: `?connection=${connection}`, body });
  await response.arrayBuffer();
  return `${getLabel(route)} ${response.status}`;
}

it("never returns 500 for hostile keys in a request body", async () => {
  const changingRoutes = routes.filter((route) => !isRead(route) && route.guard?.needsRecentSignIn !== true);
  expect(changingRoutes.length).toBeGreaterThan(30);
  await fc.assert(
    fc.asyncProperty(createHostileJson(names), async (text) => {
      for (const route of changingRoutes) expect(await getStatus(route, embeddedConnection, text)).not.toMatch(/ 500$/);
      expect(listPrototypeMembers()).toEqual(membersBefore);
    }),
    { numRuns: 8 },
  );
});

it("keeps prototypes unchanged when runner messages contain hostile keys", async () => {
  const runner = await startRunnerServer({ objectInfo: {} });
  const graph = graphSchema.parse({ constructor: { class_type: "A", inputs: {} }, last: { class_type: "A", inputs: {} } });
  const outputs: unknown[] = [];
  const ignore = () => undefined;
  const listener = listenToRunner(
    { address: runner.address, clientId: "c", traffic: createTraffic() },
    { promptId: "x", graph, nodesTotal: 2 },
    { onReport: ignore, onExecuted: (_, output) => outputs.push(output), onEnd: ignore, onLimitExceeded: ignore, onEvent: ignore },
  );
  await listener.ready;
  const ids = ["__proto__", "constructor", "toString"];
  for (const text of fc.sample(createHostileJson(names), 100))
    for (const id of ids)
      for (const type of ["executed", "executing", "execution_cached", "progress", "execution_error"])
        runner.send(`{"type":"${type}","data":{"prompt_id":"x","node":"${id}","nodes":["__proto__","${id}",${text}],"output":${text}}}`);
  runner.send('{"type":"execution_cached","data":{"prompt_id":"x","nodes":["last"]}}');
  await until("the last message is read", () => listener.findTimes("last"));
  listener.stop();
  await runner.close();
  expect(outputs).toHaveLength(100);
  expect(listener.findTimes("toString")).toBeUndefined();
  expect(listPrototypeMembers()).toEqual(membersBefore);
});

it("never returns 500 for hostile keys in a service response", async () => {
  const getRoutes = routes.filter(({ method, guard, path }) => method === "GET" && guard?.needsConnection && !path.includes("/events"));
  expect(getRoutes.length).toBeGreaterThan(20);
  await fc.assert(
    fc.asyncProperty(createHostileJson(names), async (text) => {
      responseBody = text;
      for (const route of getRoutes) expect(await getStatus(route, externalConnection)).not.toMatch(/ 500$/);
      expect(listPrototypeMembers()).toEqual(membersBefore);
    }),
    { numRuns: 8 },
  );
});
