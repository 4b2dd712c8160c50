// Public clients of the family, and the conformance suite, against a running console as if it were a service: the key that they use is
// a member's token. The service's own key stays inside.
import { once } from "node:events";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { allOperations } from "@/lib/contract/operations";
import { ended, list, png, record, sample, submit, waiting } from "@/tests/integration/service/support";
import { takeEverythingBack } from "@/tests/support/client-changes";
import { conformance } from "@/tests/support/conformance-command";
import { openEvents } from "@/tests/support/event-socket";
import { createHarness, type Harness } from "@/tests/support/harness";
import { controlsOf, type Graph, publicClients } from "@/tests/support/public-clients";
import { createClient } from "@/tests/support/service";
import { type Started, startProcess } from "@/tests/support/start-process";
import { type MadeToken, makeToken } from "@/tests/support/tokens";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const pngMark = [0x89, 0x50, 0x4e, 0x47];

let harness: Harness;
let console: Started;
let url: string;
let operator: MadeToken;
let headers: Record<string, string>;
let viewer: Record<string, string>;
beforeAll(async () => {
  // Its members and their tokens exist before the console that runs.
  harness = await createHarness();
  operator = await makeToken(harness, "operator");
  headers = operator.headers;
  viewer = { authorization: `Bearer ${(await makeToken(harness, "viewer")).token}` };
  await harness.console.stop();
  console = startProcess("dist/console.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: harness.folder, LIGHTDESK_CONCURRENCY: "1" });
  url = await console.printed("Lightdesk");
});
afterAll(async () => {
  await console.stop();
  await harness.dispose();
});

const read = async (path: string) => record(await (await fetch(url + path, { headers })).json());
const jobIds = async () => ((await read("/api/jobs")).jobs as { id: string; status: string }[]).map(({ id, status }) => `${id} ${status}`);

it.each(Object.keys(publicClients))(
  "%s runs a sample to its end, gets its messages, fetches its picture, uploads and reads",
  async (name) => {
    const graph = sample("01-invert") as Graph;
    const outputNode = Object.keys(graph).find((id) => graph[id]?.class_type === "SaveImage") ?? "";
    const before = await jobIds();
    const done = await publicClients[name]?.({ base: `${url}/api`, headers }, { graph, outputNode, upload: png(5, 5) });
    const made = (await jobIds()).filter((job) => !before.includes(job));
    expect(made).toEqual([expect.stringMatching(/ completed$/)]);
    expect([...(done?.picture.subarray(0, 4) ?? [])]).toEqual(pngMark);
    expect(done).toMatchObject({ queue: { running: 0, pending: 0 }, system: { os: expect.any(String) } });
    expect(done?.history).toContain(made[0]?.split(" ")[0]);
    expect(done?.classes).toContain("SaveImage");
    // The third client passes on none of its messages, but still waits for them.
    if (name !== "comfy-ui-client") expect(done?.received).toContain("execution_success");
    // The uploaded file can be loaded by the name in the answer.
    if (done?.uploaded) expect((await fetch(`${url}/api/view?filename=${done.uploaded}&type=input`, { headers })).status).toBe(200);
  },
);

const memberOf = (headers: Record<string, string>) =>
  createClient(
    (request) => fetch(new Request(request, { headers: { ...Object.fromEntries(request.headers), ...headers } })),
    undefined,
    url,
  );

it.each(Object.keys(publicClients))("%s takes back what it submitted and what it made", async (name) => {
  const place = { base: `${url}/api`, headers };
  await controlsOf[name]?.(place, (controls) => takeEverythingBack(memberOf(headers), controls));
});

it("a job is cancelled by its own path, once, and by those who may; memory is freed with a body and without one", async () => {
  const [member, reader] = [memberOf(headers), memberOf(viewer)];
  const ids = [await submit(member, waiting(600, 1)), await submit(member, waiting(600, 2))];
  for (const id of ids.toReversed()) {
    const cancel = `/api/job/${id}/cancel`;
    expect((await reader.post(cancel)).status).toBe(403);
    expect(await member.post(cancel)).toMatchObject({ status: 200, body: { cancelled: true } });
    expect((await ended(member, id)).status).toBe("cancelled");
    expect(await member.post(cancel)).toMatchObject({ status: 200, body: { cancelled: false } });
  }
  expect((await member.post(`/api/job/${crypto.randomUUID()}/cancel`)).status).toBe(404);
  for (const body of [undefined, { free_memory: true }]) {
    expect(await member.post("/api/free", body)).toMatchObject({ status: 200, text: "" });
    expect((await reader.post("/api/free", body)).status).toBe(403);
  }
});

it("the conformance suite finds that it answers as a service does, and leaves nothing behind", async () => {
  const counts = async () => [(await jobIds()).length, (await read("/api/assets?include_public=false")).total];
  const before = await counts();
  const { code, output } = await conformance("--base-url", url, "--api-key", operator.token, "--write", "--interrupt", "--json");
  const rows = list(record(JSON.parse(output)).operations);
  expect(rows.filter(({ outcome }) => outcome === "differs")).toEqual([]);
  expect(rows.filter(({ tier, outcome }) => tier === "core" && outcome !== "ok")).toEqual([]);
  expect([code, rows.length, output.includes(operator.token)]).toEqual([0, allOperations.length, false]);
  expect(await counts()).toEqual(before);
});

it("keeps the spelling of numbers from a submission to the job's details", async () => {
  const inputs = '{"width":64,"height":64,"batch_size":1,"color":0,"extra":5.0,"more":1e3,"seed":18446744073709551615}';
  const body = `{"prompt":{"1":{"class_type":"EmptyImage","inputs":${inputs}},"2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"x"}}}}`;
  const sent = await fetch(`${url}/api/prompt`, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body });
  expect(sent.status).toBe(200);
  const { prompt_id } = record(await sent.json());
  const details = async () => (await fetch(`${url}/api/jobs/${String(prompt_id)}`, { headers })).text();
  await expect.poll(details).toContain('"status":"completed"');
  expect(await details()).toContain(inputs);
});

it("a preview is an address that the token opens, as a service's is", async () => {
  const { assets } = (await read("/api/assets?limit=1&name_contains=photo.png")) as { assets: { preview_url: string }[] };
  const address = assets[0]?.preview_url ?? "";
  expect(address).toMatch(new RegExp(`^${url}/api/view\\?.*connection=embedded`));
  expect((await fetch(address, { headers })).headers.get("content-type")).toMatch(/^image/);
  expect((await fetch(address)).status).toBe(401);
});

it("no page opens by a token, and none by the session that comes with it", async () => {
  const cookie = harness.cookieOf("operator");
  const page = async (headers: Record<string, string>) => {
    const { status, headers: answered } = await fetch(`${url}/settings/account`, { headers, redirect: "manual" });
    return [status, answered.get("location")?.replace(/^.*(?=\/)|\?.*/g, "")];
  };
  expect(await page({ cookie })).toEqual([200, undefined]);
  expect(await page(headers)).toEqual([404, undefined]);
  expect(await page({ ...headers, cookie })).toEqual([404, undefined]);
});

it("a stop tells whoever listens, and does not wait for them", async () => {
  const { socket } = await openEvents(`${url}/ws`, headers);
  const closing = once(socket, "close");
  expect(await console.stop("SIGTERM")).toBe(0);
  expect((await closing)[0]).toBe(1001);
});
