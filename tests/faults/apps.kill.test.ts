// The console is killed during an app's runs while its service keeps running: no run is sent twice or lost.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { type AppRun } from "@/lib/contract/apps/app";
import { createAppWorld, picture } from "../integration/console/apps/app-world";
import { isPrompt, startServiceGate } from "../support/service-gate";
import { createKey, startServiceProcess } from "../support/service-process";
import { type StartedProcess, startProcess } from "../support/start-process";
import { makeToken } from "../support/tokens";
import { until } from "../support/until";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
let console: StartedProcess;
let url: string;
/** Requests that get no response through the gate. "answers": the service receives the request; "uploads": it doesn't. */
const blocked = new Set<"answers" | "uploads">();

const dataDir = await mkdtemp(join(tmpdir(), "lightdesk-apps-"));
const key = await createKey(dataDir, "ada");
const service = await startServiceProcess(dataDir);
const gate = await startServiceGate(service, (request) => {
  if (blocked.has("uploads") && request.url.startsWith("/api/upload/")) return "lost";
  return blocked.has("answers") && isPrompt(request) ? "unanswered" : undefined;
});
const world = await createAppWorld();
const app = await world.make({}, { connection: await world.harness.connect(gate.url, key) });
const headers = (await makeToken(world.harness, "runner")).headers;
await world.harness.console.stop();
await begin();
afterAll(async () => {
  await console.stop();
  await gate.close();
  await service.stop();
  await world.harness.dispose();
  await rm(dataDir, { recursive: true, force: true });
});

async function begin(): Promise<void> {
  console = startProcess("dist/console.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: world.harness.folder, LIGHTDESK_CONCURRENCY: "1" });
  url = await console.printed("Lightdesk");
}

async function run(key: string, prefix: string): Promise<{ status: number; run: AppRun }> {
  const form = new FormData();
  form.set("picture", new File([new Uint8Array(await picture(8, 8))], "photo.png", { type: "image/png" }));
  form.set("prefix", prefix);
  const init = { method: "POST", body: form, headers: { ...headers, "idempotency-key": key } };
  const response = await fetch(`${url}/api/apps/${app.id}/runs`, init);
  return { status: response.status, ...((await response.json()) as { run: AppRun }) };
}
async function runs(): Promise<AppRun[]> {
  const response = await fetch(`${url}/api/apps/${app.id}/runs`, { headers });
  return ((await response.json()) as { runs: AppRun[] }).runs;
}
const getState = async (prefix: string) => (await runs()).find(({ inputs }) => inputs.prefix === prefix)?.state;
const sentFor = (prefix: string) => gate.requests.filter((request) => isPrompt(request) && request.body.includes(`"${prefix}"`)).length;
const ended = (prefix: string) => until(`${prefix} has ended`, async () => (await getState(prefix)) === "completed");

it("submits each run exactly once when killed before, during or after the response", async () => {
  const response = await run("a-key-of-answered", "answered");
  expect(response.status).toBe(202);
  blocked.add("answers");
  const cut = run("a-key-of-unanswered", "unanswered").catch(() => "cut");
  await until("the service has it", () => sentFor("unanswered") === 1);
  blocked.add("uploads");
  const unsent = run("a-key-of-unsent-0", "unsent").catch(() => "cut");
  await until("it is written down, and its file is on the way", async () => (await getState("unsent")) === "sending");
  await console.stop("SIGKILL");
  expect(await Promise.all([cut, unsent])).toEqual(["cut", "cut"]);
  blocked.clear();
  await begin();

  // The service kept running, so the run is found again with its results.
  await ended("answered");
  expect(await getState("unanswered")).toBe("unknown");
  expect(await getState("unsent")).toBe("unsent");
  expect(await runs()).toHaveLength(3);

  expect((await run("a-key-of-answered", "answered")).run).toMatchObject({ id: response.run.id, state: "completed" });
  expect((await run("a-key-of-unanswered", "unanswered")).run.state).toBe("unknown");
  expect((await run("a-key-of-unsent-0", "unsent")).status).toBe(202);
  await ended("unsent");
  expect(["answered", "unanswered", "unsent"].map(sentFor)).toEqual([1, 1, 1]);
  expect(await runs()).toHaveLength(3);
});
