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
import { asRecord, asRecords, png, sample, submit, waitForEnd, waitGraph } from "@/tests/integration/service/support";
import { takeEverythingBack } from "@/tests/support/client-changes";
import { conformance } from "@/tests/support/conformance-command";
import { openEvents } from "@/tests/support/event-socket";
import { createHarness } from "@/tests/support/harness";
import { requireProgram } from "@/tests/support/program";
import { controlsOf, type Graph, publicClients } from "@/tests/support/public-clients";
import { createClient } from "@/tests/support/service";
import { startProcess } from "@/tests/support/start-process";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { makeToken } from "@/tests/support/tokens";
import { definition } from "../apps/app-world";

const pngMark = [0x89, 0x50, 0x4e, 0x47];
// Its members and their tokens exist before the console that runs.
const harness = await createHarness();
const operator = await makeToken(harness, "operator");
const headers = operator.headers;
const viewer = { authorization: `Bearer ${(await makeToken(harness, "viewer")).token}` };
const response = await harness.request("/api/apps?connection=embedded", { as: "operator", method: "POST", json: { definition } });
const app = String(asRecord(asRecord(await response.json()).app).id);
await harness.console.stop();
const console = startProcess("dist/console.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: harness.folder, LIGHTDESK_CONCURRENCY: "1" });
const url = await console.printed("Lightdesk");
afterAll(() => console.stop());

const getRecord = async (path: string) => asRecord(await (await fetch(url + path, { headers })).json());
const jobIds = async () =>
  ((await getRecord("/api/jobs")).jobs as { id: string; status: string }[]).map(({ id, status }) => `${id} ${status}`);

it.each(Object.keys(publicClients))("runs a sample, gets messages, downloads, uploads and reads with %s", async (name) => {
  const graph = sample("01-invert") as Graph;
  const outputNode = Object.keys(graph).find((id) => graph[id]?.class_type === "SaveImage") ?? "";
  const before = await jobIds();
  const driven = await publicClients[name]?.({ base: `${url}/api`, headers }, { graph, outputNode, upload: png(5, 5) });
  const newIds = (await jobIds()).filter((job) => !before.includes(job));
  expect(newIds).toEqual([expect.stringMatching(/ completed$/)]);
  expect([...(driven?.picture.subarray(0, 4) ?? [])]).toEqual(pngMark);
  expect(driven).toMatchObject({ queue: { running: 0, pending: 0 }, system: { os: expect.any(String) } });
  expect(driven?.history).toContain(newIds[0]?.split(" ")[0]);
  expect(driven?.classes).toContain("SaveImage");
  // The third client forwards none of its messages, but still waits for them.
  if (name !== "comfy-ui-client") expect(driven?.received).toContain("execution_success");
  // The uploaded file can be loaded by the returned name.
  if (driven?.uploaded) expect((await fetch(`${url}/api/view?filename=${driven.uploaded}&type=input`, { headers })).status).toBe(200);
});

const getMember = (headers: Record<string, string>) =>
  createClient(
    (request) => fetch(new Request(request, { headers: { ...Object.fromEntries(request.headers), ...headers } })),
    undefined,
    url,
  );

it.each(Object.keys(publicClients))("%s cancels its jobs and deletes its files", async (name) => {
  const target = { base: `${url}/api`, headers };
  await controlsOf[name]?.(target, (controls) => takeEverythingBack(getMember(headers), controls));
});

it("cancels a job by path once and frees memory with and without a body", async () => {
  const [member, reader] = [getMember(headers), getMember(viewer)];
  const ids = [await submit(member, waitGraph(600, 1)), await submit(member, waitGraph(600, 2))];
  for (const id of ids.toReversed()) {
    const cancel = `/api/job/${id}/cancel`;
    expect((await reader.post(cancel)).status).toBe(403);
    expect(await member.post(cancel)).toMatchObject({ status: 200, body: { cancelled: true } });
    expect((await waitForEnd(member, id)).status).toBe("cancelled");
    expect(await member.post(cancel)).toMatchObject({ status: 200, body: { cancelled: false } });
  }
  expect((await member.post(`/api/job/${crypto.randomUUID()}/cancel`)).status).toBe(404);
  for (const body of [undefined, { free_memory: true }]) {
    expect(await member.post("/api/free", body)).toMatchObject({ status: 200, text: "" });
    expect((await reader.post("/api/free", body)).status).toBe(403);
  }
});

it("passes the conformance suite and leaves nothing behind", async () => {
  const counts = async () => [(await jobIds()).length, (await getRecord("/api/assets?include_public=false")).total];
  const before = await counts();
  const { code, output } = await conformance("--base-url", url, "--api-key", operator.token, "--write", "--interrupt", "--json");
  const rows = asRecords(asRecord(JSON.parse(output)).operations);
  expect(rows.filter(({ outcome }) => outcome === "differs")).toEqual([]);
  expect(rows.filter(({ tier, outcome }) => tier === "core" && outcome !== "ok")).toEqual([]);
  expect([code, rows.length, output.includes(operator.token)]).toEqual([0, allOperations.length, false]);
  expect(await counts()).toEqual(before);
});

it("returns previews as addresses that the token opens", async () => {
  const { assets } = (await getRecord("/api/assets?limit=1&name_contains=photo.png")) as { assets: { preview_url: string }[] };
  const address = assets[0]?.preview_url ?? "";
  expect(address).toMatch(new RegExp(`^${url}/api/view\\?.*connection=embedded`));
  expect((await fetch(address, { headers })).headers.get("content-type")).toMatch(/^image/);
  expect((await fetch(address)).status).toBe(401);
});

it("opens no page by a token or its session", async () => {
  const cookie = harness.cookieOf("operator");
  const page = async (headers: Record<string, string>) => {
    const { status, headers: responseHeaders } = await fetch(`${url}/settings/account`, { headers, redirect: "manual" });
    return [status, responseHeaders.get("location")?.replace(/^.*(?=\/)|\?.*/g, "")];
  };
  expect(await page({ cookie })).toEqual([200, undefined]);
  expect(await page(headers)).toEqual([404, undefined]);
  expect(await page({ ...headers, cookie })).toEqual([404, undefined]);
});

describe("docs/api.md", async () => {
  const page = readFileSync("docs/api.md", "utf8");
  const findCodeBlocks = (language: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, code = ""]) => code);
  const run = (command: string, ...args: string[]) => promisify(execFile)(command, args, { cwd: folder, env });
  const saved = (name: string) => [...readFileSync(join(folder, name)).subarray(0, 4)];
  const folder = temporaryFolder();
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: "test",
    PATH: process.env.PATH,
    LIGHTDESK_URL: url,
    LIGHTDESK_TOKEN: operator.token,
    APP: app,
  };

  it("shows commands that run a workflow, run an app and export jobs", async (context) => {
    await requireProgram("jq", context);
    copyFileSync("public/samples/photo.png", join(folder, "photo.png"));
    const blocks = findCodeBlocks("sh").filter((code) => !code.startsWith("npm "));
    await run("bash", "-euo", "pipefail", "-c", blocks.join("\n").replaceAll(/^export .*$/gm, ""));
    expect([saved("hello_00001_.png"), saved("result.png")]).toEqual([pngMark, pngMark]);
    expect(readFileSync(join(folder, "jobs.csv"), "utf8").split("\n")[0]).toContain("EmptyImage.width");
  });

  it("shows TypeScript that runs a workflow", async () => {
    const { code } = await transform(findCodeBlocks("ts")[0] ?? "", { loader: "ts", format: "esm" });
    writeFileSync(join(folder, "run.mjs"), code);
    const { stdout } = await run(process.execPath, "run.mjs");
    expect(saved(/Saved (\S+)/.exec(stdout)?.[1] ?? "")).toEqual(pngMark);
  });

  it("shows Python that runs a workflow", async (context) => {
    writeFileSync(join(folder, "run.py"), findCodeBlocks("python")[0] ?? "");
    const { stdout } = await run(await requireProgram("python3", context), "run.py");
    expect(saved(/Saved (\S+)/.exec(stdout)?.[1] ?? "")).toEqual(pngMark);
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

it("notifies listeners of a stop without waiting for them", async () => {
  const { socket } = await openEvents(`${url}/ws`, headers);
  const closing = once(socket, "close");
  expect(await console.stop("SIGTERM")).toBe(0);
  expect((await closing)[0]).toBe(1001);
});
