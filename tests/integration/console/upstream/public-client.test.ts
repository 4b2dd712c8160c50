// Public clients and the conformance suite use a running console like a service, with a member's token as the key. The service's own key is never
// exposed.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { allOperations } from "@/lib/contract/operations";
import { asRecord, asRecords, createPng, loadSampleGraph } from "@/tests/integration/service/support";
import { revertAllChanges } from "@/tests/support/client-changes";
import { runConformance } from "@/tests/support/conformance-command";
import { openEventSocket } from "@/tests/support/event-socket";
import { createHarness } from "@/tests/support/harness";
import { requireProgram } from "@/tests/support/program";
import { clientControls, type Graph, publicClients } from "@/tests/support/public-clients";
import { createClient } from "@/tests/support/service";
import { startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createAccessToken } from "@/tests/support/tokens";
import { definition } from "../apps/app-harness";

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47];
// Members and tokens are created before the console process starts.
const harness = await createHarness();
const operator = await createAccessToken(harness, "operator");
const headers = operator.headers;
const response = await harness.request("/api/apps?connection=embedded", { as: "operator", method: "POST", json: { definition } });
const appId = String(asRecord(asRecord(await response.json()).app).id);
await harness.console.stop();
const console = startProcess("dist/console.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: harness.folder, LIGHTDESK_CONCURRENCY: "1" });
const url = await console.waitForOutput("Lightdesk");
afterAll(() => console.stop());

const getRecord = async (path: string) => asRecord(await (await fetch(url + path, { headers })).json());
const listJobs = async () =>
  ((await getRecord("/api/jobs")).jobs as { id: string; status: string }[]).map(({ id, status }) => `${id} ${status}`);

it.each(Object.keys(publicClients))("runs a sample, gets messages, downloads, uploads and reads with %s", async (name) => {
  const graph = loadSampleGraph("01-invert") as Graph;
  const outputNode = Object.keys(graph).find((id) => graph[id]?.class_type === "SaveImage") ?? "";
  const before = await listJobs();
  const clientResult = await publicClients[name]?.({ base: `${url}/api`, headers }, { graph, outputNode, upload: createPng(5, 5) });
  const newIds = (await listJobs()).filter((job) => !before.includes(job));
  expect(newIds).toEqual([expect.stringMatching(/ completed$/)]);
  expect([...(clientResult?.picture.subarray(0, 4) ?? [])]).toEqual(PNG_SIGNATURE);
  expect(clientResult).toMatchObject({ queue: { running: 0, pending: 0 }, system: { os: expect.any(String) } });
  expect(clientResult?.history).toContain(newIds[0]?.split(" ")[0]);
  expect(clientResult?.classes).toContain("SaveImage");
  // comfy-ui-client doesn't forward its messages but still waits for them.
  if (name !== "comfy-ui-client") expect(clientResult?.received).toContain("execution_success");
  // The uploaded file can be loaded by the returned name.
  if (clientResult?.uploaded)
    expect((await fetch(`${url}/api/view?filename=${clientResult.uploaded}&type=input`, { headers })).status).toBe(200);
});

const fetchAsMember = (request: Request) =>
  fetch(new Request(request, { headers: { ...Object.fromEntries(request.headers), ...headers } }));

it.each(Object.keys(publicClients))("cancels jobs and deletes files with %s", async (name) => {
  const target = { base: `${url}/api`, headers };
  await clientControls[name]?.(target, (controls) => revertAllChanges(createClient(fetchAsMember, undefined, url), controls));
});

it("passes the conformance suite and leaves nothing behind", async () => {
  const countItems = async () => [(await listJobs()).length, (await getRecord("/api/assets?include_public=false")).total];
  const before = await countItems();
  const { code, output } = await runConformance("--base-url", url, "--api-key", operator.token, "--write", "--interrupt", "--json");
  const rows = asRecords(asRecord(JSON.parse(output)).operations);
  expect(rows.filter(({ outcome }) => outcome === "differs")).toEqual([]);
  expect(rows.filter(({ tier, outcome }) => tier === "core" && outcome !== "ok")).toEqual([]);
  expect([code, rows.length, output.includes(operator.token)]).toEqual([0, allOperations.length, false]);
  expect(await countItems()).toEqual(before);
});

it("returns preview URLs that open with the token", async () => {
  const { assets } = (await getRecord("/api/assets?limit=1&name_contains=photo.png")) as { assets: { preview_url: string }[] };
  const previewUrl = assets[0]?.preview_url ?? "";
  expect(previewUrl).toMatch(new RegExp(`^${url}/api/view\\?.*connection=embedded`));
  expect((await fetch(previewUrl, { headers })).headers.get("content-type")).toMatch(/^image/);
  expect((await fetch(previewUrl)).status).toBe(401);
});

describe("docs/api.md", async () => {
  const markdown = readFileSync("docs/api.md", "utf8");
  const findCodeBlocks = (language: string) =>
    [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, code = ""]) => code);
  const run = (command: string, ...args: string[]) => promisify(execFile)(command, args, { cwd: folder, env });
  const readSignature = (name: string) => [...readFileSync(join(folder, name)).subarray(0, 4)];
  const folder = createTemporaryFolder();
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: "test",
    PATH: process.env.PATH,
    LIGHTDESK_URL: url,
    LIGHTDESK_TOKEN: operator.token,
    APP: appId,
  };

  it("shows commands that run a workflow, run an app and export jobs", async (context) => {
    await requireProgram("jq", context);
    copyFileSync("public/samples/photo.png", join(folder, "photo.png"));
    const blocks = findCodeBlocks("sh").filter((code) => !code.startsWith("npm "));
    await run("bash", "-euo", "pipefail", "-c", blocks.join("\n").replaceAll(/^export .*$/gm, ""));
    expect([readSignature("hello_00001_.png"), readSignature("result.png")]).toEqual([PNG_SIGNATURE, PNG_SIGNATURE]);
    expect(readFileSync(join(folder, "jobs.csv"), "utf8").split("\n")[0]).toContain("EmptyImage.width");
  });

  it("shows TypeScript that runs a workflow", async () => {
    const { code } = await transform(findCodeBlocks("ts")[0] ?? "", { loader: "ts", format: "esm" });
    writeFileSync(join(folder, "run.mjs"), code);
    const { stdout } = await run(process.execPath, "run.mjs");
    expect(readSignature(/Saved (\S+)/.exec(stdout)?.[1] ?? "")).toEqual(PNG_SIGNATURE);
  });

  it("shows Python that runs a workflow", async (context) => {
    writeFileSync(join(folder, "run.py"), findCodeBlocks("python")[0] ?? "");
    const { stdout } = await run(await requireProgram("python3", context), "run.py");
    expect(readSignature(/Saved (\S+)/.exec(stdout)?.[1] ?? "")).toEqual(PNG_SIGNATURE);
  });

  it("shows JavaScript that receives events", async () => {
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "events.mjs"), findCodeBlocks("js")[0] ?? "");
    const child = spawn(process.execPath, ["events.mjs"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    const [first] = (await once(child.stdout, "data")) as [Buffer];
    child.kill();
    expect(first.toString()).toContain('"type":"status"');
  });
});

it("closes event sockets on stop without waiting for them", async () => {
  const { socket } = await openEventSocket(`${url}/ws`, headers);
  const closing = once(socket, "close");
  expect(await console.stop("SIGTERM")).toBe(0);
  expect((await closing)[0]).toBe(1001);
});
