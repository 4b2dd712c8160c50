// A share shows exactly the shared items to everyone with its link, however it is requested.
import { setImmediate } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeEach, expect, test } from "vitest";
import { listShares } from "@/lib/server/queries/shares";
import { openFiles } from "@/tests/support/open-files";
import { until } from "@/tests/support/until";
import { createShareWorld, DAY, getBytes, SECRET } from "./share-world";

const { harness, shared, other, upload, share, ask, visit, statusOf, expectClosed, now } = await createShareWorld();
beforeEach(() => harness.renewCookies());
afterAll(() => harness.dispose());

test("frees the bytes read for cleaning", async () => {
  // Node warns when it closes a forgotten file handle.
  const warned: string[] = [];
  const note = ({ message }: Error) => void warned.push(message);
  process.on("warning", note);
  const { id, hash } = await upload("read");
  const { token } = await share({ assets: [id] });
  const ofIt = async () => (await openFiles()).filter(({ path }) => path.endsWith(hash.slice(2)));
  await getBytes(await ask(token, "/1"));
  const remaining = await ofIt();
  await until("it is not open any more", async () => (await ofIt()).length === 0);
  await setImmediate();
  process.off("warning", note);
  expect(
    warned.filter((text) => remaining.some(({ number }) => text === `Closing file descriptor ${number} on garbage collection`)),
  ).toEqual([]);
});

test("names an untitled share by date and first file and numbers duplicates", async () => {
  const day = new Date(now()).toISOString().slice(0, 10);
  const titles = [await share({ assets: [other.id, shared.id] }), await share({ assets: [other.id] })].map(({ title }) => title);
  expect(titles).toEqual([`${day} other.png`, `${day} other.png (2)`]);
});

test("shows a shared file under a number, cleaned and counted", async () => {
  const { token, id } = await share({ title: "For you", showsMaker: true });
  const visited = await visit(token);
  expect(visited).toMatchObject({ kind: "open", page: { title: "For you", maker: "operator", isCleaned: true, hasWorkflow: false } });
  expect(visited.kind === "open" && visited.page.items).toEqual([
    expect.objectContaining({ number: 1, name: "given.png", kind: "image", hash: shared.hash, width: 300, height: 200 }),
  ]);
  const page = JSON.stringify(visited);
  for (const hidden of [shared.id, harness.viewerOf("operator").memberId, id]) expect(page).not.toContain(hidden);

  const response = await ask(token, "/1");
  expect(response.status).toBe(200);
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    "content-type": "image/png",
    "content-disposition": "inline; filename*=UTF-8''given.png",
    "cache-control": "private, no-store",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow",
    "x-content-type-options": "nosniff",
  });
  expect(headers["content-security-policy"]).toContain("sandbox");
  const file = await getBytes(response);
  expect(file.length).toBe(Number(headers["content-length"]));
  expect(file.includes(SECRET)).toBe(false);
  expect(shared.file.includes(SECRET)).toBe(true);
  expect(await sharp(file).metadata()).toMatchObject({ width: 300, height: 200 });

  const download = await ask(token, "/1?download=1");
  expect(download.headers.get("content-disposition")).toMatch(/^attachment/);
  await download.body?.cancel();
  const thumbnail = await ask(token, "/1/256");
  expect(await sharp(await getBytes(thumbnail)).metadata()).toMatchObject({ format: "webp", width: 256 });
  expect((await listShares(harness.contextOf("operator"))).find((share) => share.id === id)).toMatchObject({
    views: 1,
    downloads: 1,
    state: "open",
  });
});

test("shares a file unchanged when its metadata is kept", async () => {
  const { token } = await share({ keepsMetadata: true });
  expect((await getBytes(await ask(token, "/1"))).equals(shared.file)).toBe(true);
});

test.each([{ keepsMetadata: true }, { keepsMetadata: false }])("applies a range to the cleaned bytes: %o", async (how) => {
  const { token } = await share(how);
  const bytes = await getBytes(await ask(token, "/1"));
  const ranges: [string, number, number][] = [
    ["bytes=0-9", 0, 10],
    ["bytes=20-", 20, bytes.length],
    ["bytes=-7", bytes.length - 7, bytes.length],
    ["bytes=30-999999999", 30, bytes.length],
  ];
  for (const [range, from, to] of ranges) {
    const response = await ask(token, "/1", { headers: { range } });
    expect([range, response.status, response.headers.get("content-range")]).toEqual([
      range,
      206,
      `bytes ${from}-${to - 1}/${bytes.length}`,
    ]);
    expect((await getBytes(response)).equals(bytes.subarray(from, to))).toBe(true);
  }
  const beyond = await ask(token, "/1", { headers: { range: `bytes=${bytes.length}-` } });
  expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${bytes.length}`]);
  const head = await ask(token, "/1", { method: "HEAD", headers: { range: "bytes=0-9" } });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, String(bytes.length), ""]);
});

test("cleans again what an older version had cleaned", async () => {
  const { token, id } = await share();
  const { shares } = harness.console.store;
  const whole = [{ from: 0, to: shared.file.length }];
  for (const storedPieces of [whole, { version: 1, pieces: whole }, []]) {
    await shares.keepPieces(id, 1, JSON.stringify(storedPieces));
    const response = await ask(token, "/1");
    expect(response.status).toBe(200);
    expect((await getBytes(response)).includes(SECRET)).toBe(false);
  }
});

test("exposes nothing else behind a link", async () => {
  const { token } = await share();
  const otherShare = await share({ assets: [other.id] });
  const tries = ["/0", "/2", "/01", "/1e0", "/-1", "/1.0", `/${other.id}`, `/${other.hash}`, `/${shared.id}`, `/${shared.hash}`, "/..%2f1"];
  const edges = ["/1/255", "/2/256", `/${other.id}/256`, "/1/4096"];
  for (const rest of [...tries, ...edges, "/workflow"]) expect([rest, await statusOf(token, rest)]).toEqual([rest, 404]);
  for (const query of [
    `?asset=${other.id}`,
    "?connection=else",
    `?id=${other.id}`,
    `?filename=${other.hash}.png`,
    "?number=2",
    "?offset=1",
  ])
    expect([query, (await getBytes(await ask(token, `/1${query}`))).equals(await getBytes(await ask(token, "/1")))]).toEqual([query, true]);
  // A path with .. leaves the share, so a session is required.
  for (const rest of ["/..", "/%2e%2e", "/1/../../../assets", "/1/%2e%2e/%2e%2e"])
    expect([401, 404]).toContain(await statusOf(token, rest));
  // Item 1 of the second share is its own file.
  expect((await getBytes(await ask(otherShare.token, "/1"))).equals(await getBytes(await ask(token, "/1")))).toBe(false);
  // A link is not a session.
  for (const path of ["/api/assets", `/api/assets/${shared.id}`, "/api/jobs", "/api/console/shares"])
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { "x-api-key": token },
      { cookie: `lightdesk.session=${token}` },
    ] as Record<string, string>[])
      expect([path, (await harness.request(path, { headers })).status]).toEqual([path, 401]);
});

const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 48, batch_size: 1, color: 255 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "shared" } },
  "3": { class_type: "PreviewAny", inputs: { source: "sk-a-key-inside-of-a-workflow" } },
};

async function runJob(): Promise<string> {
  const submitResponse = await harness.request("/api/prompt", { as: "operator", method: "POST", json: { prompt: graph } });
  const { prompt_id: id }: { prompt_id: string } = await submitResponse.json();
  await until(
    "the job completes",
    async () => (await (await harness.request(`/api/jobs/${id}`, { as: "viewer" })).json()).status === "completed",
  );
  return id;
}

test("shares a job's outputs, its workflow if chosen with masks, never the job", async () => {
  const job = await runJob();
  const plain = await share({ job });
  const visited = await visit(plain.token);
  expect(visited.kind === "open" && visited.page.items.map(({ kind }) => kind).sort()).toEqual(["image", "text"]);
  expect(JSON.stringify(visited)).not.toContain(job);
  expect(JSON.stringify(visited)).not.toContain("sk-a-key");
  expect(await statusOf(plain.token, "/workflow")).toBe(404);
  const open = await share({ job, showsWorkflow: true });
  const workflow = await (await ask(open.token, "/workflow")).text();
  expect(JSON.parse(workflow)).toMatchObject({ "1": graph["1"], "3": { inputs: { source: "[REDACTED]" } } });
  expect(workflow).not.toContain(job);
  const text = visited.kind === "open" ? visited.page.items.find(({ kind }) => kind === "text") : undefined;
  expect(await statusOf(plain.token, `/${text?.number}`)).toBe(404);
  // Later results of the job, or of another job, are not in the share.
  expect(await statusOf(plain.token, "/3")).toBe(404);
});

test("refuses, omits or accepts a file with metadata that can't be removed", async () => {
  const form = new FormData();
  form.set("file", new Blob(["<svg xmlns='http://www.w3.org/2000/svg'/>"], { type: "image/svg+xml" }), "drawn.svg");
  const svg = (await (await harness.request("/api/assets", { as: "operator", method: "POST", body: form })).json()).id as string;
  const assets = [shared.id, svg];
  const refusal = await harness.request("/api/console/shares", { as: "operator", method: "POST", json: { assets, expiresInMs: DAY } });
  expect(refusal.status).toBe(422);
  expect(await refusal.json()).toMatchObject({ code: "UNPROCESSABLE", details: { notCleanable: ["drawn.svg"] } });
  expect((await share({ assets, leavesOut: true })).count).toBe(1);
  const { token } = await share({ assets, keepsMetadata: true });
  const response = await ask(token, "/2");
  await response.body?.cancel();
  expect([response.headers.get("content-type"), response.headers.get("content-disposition")?.slice(0, 10)]).toEqual([
    "application/octet-stream",
    "attachment",
  ]);
});

test("shares only what an operator can see, unless shares are off", async () => {
  const make = (as: "viewer" | "operator", json: object) => harness.request("/api/console/shares", { as, method: "POST", json });
  const body = { assets: [shared.id], expiresInMs: DAY };
  expect((await make("viewer", body)).status).toBe(403);
  const bad: object[] = [
    { ...body, assets: [] },
    { ...body, job: "j" },
    { ...body, expiresInMs: 366 * DAY },
    { ...body, expiresInMs: 0 },
    { ...body, password: "short" },
    { ...body, assets: Array.from({ length: 101 }, (_, index) => String(index)) },
  ];
  for (const json of bad) expect([json, (await make("operator", json)).status]).toEqual([json, 400]);
  expect((await make("operator", { ...body, assets: ["00000000-0000-4000-8000-000000000000"] })).status).toBe(404);
  const connection = await harness.console.store.connections.create({
    name: "Theirs",
    baseUrl: "http://127.0.0.1:9",
    memberId: harness.viewerOf("admin").memberId,
    createdAt: now(),
  });
  const foreign = await harness.request(`/api/console/shares?connection=${connection.id}`, { as: "operator", method: "POST", json: body });
  expect(foreign.status).toBe(404);
  const { token } = await share();
  harness.console.env.shares = false;
  expect((await make("operator", body)).status).toBe(403);
  await expectClosed(token);
  harness.console.env.shares = true;
});
