// The console is killed in the middle of an app's runs, while its service on a port keeps running: no run is sent twice or lost.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type AppRun, type AppView } from "@/lib/contract/apps/app";
import { type AppWorld, createAppWorld, picture } from "../integration/console/apps/app-world";
import { type LittleServer } from "../support/little-server";
import { isPrompt, startServiceGate } from "../support/service-gate";
import { createKey, type ServiceProcess, startServiceProcess } from "../support/service-process";
import { type Started, startProcess } from "../support/start-process";
import { makeToken } from "../support/tokens";
import { until } from "../support/until";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let dataDir: string;
let service: ServiceProcess;
let gate: LittleServer;
let world: AppWorld;
let console: Started;
let app: AppView;
let headers: Record<string, string>;
let url: string;
/** Requests that get no answer through the gate. "answers": the service gets the request; "uploads": it does not. */
const held = new Set<"answers" | "uploads">();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "lightdesk-apps-"));
  const key = await createKey(dataDir, "ada");
  service = await startServiceProcess(dataDir);
  gate = await startServiceGate(service, (asked) => {
    if (held.has("uploads") && asked.url.startsWith("/api/upload/")) return "lost";
    return held.has("answers") && isPrompt(asked) ? "unanswered" : undefined;
  });
  world = await createAppWorld();
  app = await world.make({}, { connection: await world.harness.connect(gate.url, key) });
  headers = (await makeToken(world.harness, "runner")).headers;
  await world.harness.console.stop();
  await begin();
});
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
  const sent = { method: "POST", body: form, headers: { ...headers, "idempotency-key": key } };
  const answer = await fetch(`${url}/api/apps/${app.id}/runs`, sent);
  return { status: answer.status, ...((await answer.json()) as { run: AppRun }) };
}
async function runs(): Promise<AppRun[]> {
  const answer = await fetch(`${url}/api/apps/${app.id}/runs`, { headers });
  return ((await answer.json()) as { runs: AppRun[] }).runs;
}
const stateOf = async (prefix: string) => (await runs()).find(({ inputs }) => inputs.prefix === prefix)?.state;
const sentFor = (prefix: string) => gate.seen.filter((seen) => isPrompt(seen) && seen.body.includes(`"${prefix}"`)).length;
const ended = (prefix: string) => until(`${prefix} has ended`, async () => (await stateOf(prefix)) === "completed");

it("sends none twice and loses none: answered, not answered, and not sent when it was killed", async () => {
  const answered = await run("a-key-of-answered", "answered");
  expect(answered.status).toBe(202);
  held.add("answers");
  const cut = run("a-key-of-unanswered", "unanswered").catch(() => "cut");
  await until("the service has it", () => sentFor("unanswered") === 1);
  held.add("uploads");
  const unsent = run("a-key-of-unsent-0", "unsent").catch(() => "cut");
  await until("it is written down, and its file is on the way", async () => (await stateOf("unsent")) === "sending");
  await console.stop("SIGKILL");
  expect(await Promise.all([cut, unsent])).toEqual(["cut", "cut"]);
  held.clear();
  await begin();

  // The service kept running meanwhile, and the run is found again with its results.
  await ended("answered");
  expect(await stateOf("unanswered")).toBe("unknown");
  expect(await stateOf("unsent")).toBe("unsent");
  expect(await runs()).toHaveLength(3);

  expect((await run("a-key-of-answered", "answered")).run).toMatchObject({ id: answered.run.id, state: "completed" });
  expect((await run("a-key-of-unanswered", "unanswered")).run.state).toBe("unknown");
  expect((await run("a-key-of-unsent-0", "unsent")).status).toBe(202);
  await ended("unsent");
  expect(["answered", "unanswered", "unsent"].map(sentFor)).toEqual([1, 1, 1]);
  expect(await runs()).toHaveLength(3);
});
