// Kills the console during an app's runs while its service keeps running. No run is sent twice or lost.
import { afterAll, expect, it, vi } from "vitest";
import { type AppRun } from "@/lib/contract/apps/app";
import { createAppHarness, createPicture } from "../integration/console/apps/app-harness";
import { isPrompt, startServiceGate } from "../support/service-gate";
import { openServiceProcess } from "../support/service-process";
import { type StartedProcess, startProcess } from "../support/start-process";
import { createAccessToken } from "../support/tokens";
import { until } from "../support/until";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
let consoleProcess: StartedProcess;
let url: string;
/** Requests that get no response through the gate. "responses": the service receives the request; "uploads": it doesn't. */
const blocked = new Set<"responses" | "uploads">();

const { service, key } = await openServiceProcess();
const gate = await startServiceGate(service, (request) => {
  if (blocked.has("uploads") && request.url.startsWith("/api/upload/")) return "lost";
  return blocked.has("responses") && isPrompt(request) ? "unanswered" : undefined;
});
const appHarness = await createAppHarness();
const app = await appHarness.make({}, { connection: await appHarness.harness.connect(gate.url, key) });
const headers = (await createAccessToken(appHarness.harness, "runner")).headers;
await appHarness.harness.console.stop();
await startConsole();
afterAll(async () => {
  await consoleProcess.stop();
  await gate.close();
});

async function startConsole(): Promise<void> {
  consoleProcess = startProcess("dist/console.mjs", {
    PORT: "0",
    LIGHTDESK_DATA_DIR: appHarness.harness.folder,
    LIGHTDESK_CONCURRENCY: "1",
  });
  url = await consoleProcess.waitForOutput("Lightdesk");
}

async function createRun(key: string, prefix: string): Promise<{ status: number; run: AppRun }> {
  const form = new FormData();
  form.set("picture", new File([new Uint8Array(await createPicture(8, 8))], "photo.png", { type: "image/png" }));
  form.set("prefix", prefix);
  const init = { method: "POST", body: form, headers: { ...headers, "idempotency-key": key } };
  const response = await fetch(`${url}/api/apps/${app.id}/runs`, init);
  return { status: response.status, ...((await response.json()) as { run: AppRun }) };
}
async function listRuns(): Promise<AppRun[]> {
  const response = await fetch(`${url}/api/apps/${app.id}/runs`, { headers });
  return ((await response.json()) as { runs: AppRun[] }).runs;
}
const getState = async (prefix: string) => (await listRuns()).find(({ inputs }) => inputs.prefix === prefix)?.state;
const countSubmissions = (prefix: string) =>
  gate.requests.filter((request) => isPrompt(request) && request.body.includes(`"${prefix}"`)).length;
const waitUntilCompleted = (prefix: string) => until(`${prefix} has ended`, async () => (await getState(prefix)) === "completed");

it("submits each run exactly once when killed before, during or after the response", async () => {
  const response = await createRun("a-key-of-answered", "answered");
  expect(response.status).toBe(202);
  blocked.add("responses");
  const interruptedRun = createRun("a-key-of-unanswered", "unanswered").catch(() => "cut");
  await until("the service has received the run", () => countSubmissions("unanswered") === 1);
  blocked.add("uploads");
  const unsentRun = createRun("a-key-of-unsent-0", "unsent").catch(() => "cut");
  await until("the run is stored and its file is being uploaded", async () => (await getState("unsent")) === "sending");
  await consoleProcess.stop("SIGKILL");
  expect(await Promise.all([interruptedRun, unsentRun])).toEqual(["cut", "cut"]);
  blocked.clear();
  await startConsole();

  // The service kept running, so the run is found again with its results.
  await waitUntilCompleted("answered");
  expect(await getState("unanswered")).toBe("unknown");
  expect(await getState("unsent")).toBe("unsent");
  expect(await listRuns()).toHaveLength(3);

  expect((await createRun("a-key-of-answered", "answered")).run).toMatchObject({ id: response.run.id, state: "completed" });
  expect((await createRun("a-key-of-unanswered", "unanswered")).run.state).toBe("unknown");
  expect((await createRun("a-key-of-unsent-0", "unsent")).status).toBe(202);
  await waitUntilCompleted("unsent");
  expect(["answered", "unanswered", "unsent"].map(countSubmissions)).toEqual([1, 1, 1]);
  expect(await listRuns()).toHaveLength(3);
});
