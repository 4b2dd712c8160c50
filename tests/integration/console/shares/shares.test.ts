// A share exposes exactly the shared items to anyone with its link.
import { setImmediate } from "node:timers/promises";
import sharp from "sharp";
import { beforeEach, expect, test } from "vitest";
import { listShares } from "@/lib/server/queries/shares";
import { openFiles } from "@/tests/support/open-files";
import { until } from "@/tests/support/until";
import { createShareHarness, DAY_MS, getBytes, SECRET } from "./share-harness";

const { harness, shared, otherAsset, upload, createShare, share, requestShare, visit, getStatus, expectClosed, now } =
  await createShareHarness();
beforeEach(() => harness.renewCookies());

test("closes the files read for cleaning", async () => {
  // Node warns when garbage collection closes a file handle.
  const warnings: string[] = [];
  const recordWarning = ({ message }: Error) => void warnings.push(message);
  process.on("warning", recordWarning);
  const { id, hash } = await upload("read");
  const { token } = await share({ assets: [id] });
  const listOpenFiles = async () => (await openFiles()).filter(({ path }) => path.endsWith(hash.slice(2)));
  await getBytes(await requestShare(token, "/1"));
  const remaining = await listOpenFiles();
  await until("the file is closed", async () => (await listOpenFiles()).length === 0);
  await setImmediate();
  process.off("warning", recordWarning);
  expect(
    warnings.filter((text) => remaining.some(({ number }) => text === `Closing file descriptor ${number} on garbage collection`)),
  ).toEqual([]);
});

test("names an untitled share by date and first file and numbers duplicates", async () => {
  const day = new Date(now()).toISOString().slice(0, 10);
  const titles = [await share({ assets: [otherAsset.id, shared.id] }), await share({ assets: [otherAsset.id] })].map(({ title }) => title);
  expect(titles).toEqual([`${day} other.png`, `${day} other.png (2)`]);
});

test("serves a shared file by number, without metadata, and counts its views", async () => {
  const { token, id } = await share({ title: "For you", showsMaker: true });
  const visitResult = await visit(token);
  expect(visitResult).toMatchObject({ kind: "open", page: { title: "For you", maker: "operator", isCleaned: true, hasWorkflow: false } });
  expect(visitResult.kind === "open" && visitResult.page.items).toEqual([
    expect.objectContaining({ number: 1, name: "given.png", kind: "image", hash: shared.hash, width: 300, height: 200 }),
  ]);
  const pageJson = JSON.stringify(visitResult);
  for (const hiddenValue of [shared.id, harness.getViewer("operator").memberId, id]) expect(pageJson).not.toContain(hiddenValue);

  const response = await requestShare(token, "/1");
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

  const download = await requestShare(token, "/1?download=1");
  expect(download.headers.get("content-disposition")).toMatch(/^attachment/);
  await download.body?.cancel();
  const thumbnail = await requestShare(token, "/1/256");
  expect(await sharp(await getBytes(thumbnail)).metadata()).toMatchObject({ format: "webp", width: 256 });
  const listedShare = (await listShares(harness.getContext("operator"))).find((share) => share.id === id);
  expect(listedShare).toMatchObject({ views: 1, downloads: 1, state: "open" });
});

test("shares a file unchanged when its metadata is kept", async () => {
  const { token } = await share({ keepsMetadata: true });
  expect((await getBytes(await requestShare(token, "/1"))).equals(shared.file)).toBe(true);
});

test.each([{ keepsMetadata: true }, { keepsMetadata: false }])("applies a range to the cleaned bytes: %o", async (options) => {
  const { token } = await share(options);
  const bytes = await getBytes(await requestShare(token, "/1"));
  const ranges: [string, number, number][] = [
    ["bytes=0-9", 0, 10],
    ["bytes=20-", 20, bytes.length],
    ["bytes=-7", bytes.length - 7, bytes.length],
    ["bytes=30-999999999", 30, bytes.length],
  ];
  for (const [range, from, to] of ranges) {
    const response = await requestShare(token, "/1", { headers: { range } });
    const contentRange = `bytes ${from}-${to - 1}/${bytes.length}`;
    expect([range, response.status, response.headers.get("content-range")]).toEqual([range, 206, contentRange]);
    expect((await getBytes(response)).equals(bytes.subarray(from, to))).toBe(true);
  }
  const reversedResponse = await requestShare(token, "/1", { headers: { range: "bytes=5-2" } });
  expect([reversedResponse.status, (await getBytes(reversedResponse)).equals(bytes)]).toEqual([200, true]);
  const outOfRangeResponse = await requestShare(token, "/1", { headers: { range: `bytes=${bytes.length}-` } });
  expect([outOfRangeResponse.status, outOfRangeResponse.headers.get("content-range")]).toEqual([416, `bytes */${bytes.length}`]);
  const headResponse = await requestShare(token, "/1", { method: "HEAD", headers: { range: "bytes=0-9" } });
  const head = [headResponse.status, headResponse.headers.get("content-length"), await headResponse.text()];
  expect(head).toEqual([200, String(bytes.length), ""]);
});

test("cleans a file again when an older version cleaned it", async () => {
  const { token, id } = await share();
  const { shares } = harness.console.store;
  const wholeFile = [{ from: 0, to: shared.file.length }];
  for (const storedPieces of [wholeFile, { version: 1, pieces: wholeFile }, []]) {
    await shares.savePieces(id, 1, JSON.stringify(storedPieces));
    const response = await requestShare(token, "/1");
    expect(response.status).toBe(200);
    expect((await getBytes(response)).includes(SECRET)).toBe(false);
  }
});

test("exposes only the shared items through a link", async () => {
  const { token } = await share();
  const otherShare = await share({ assets: [otherAsset.id] });
  const invalidNumbers = ["/0", "/2", "/01", "/1e0", "/-1", "/1.0", "/..%2f1"];
  const ids = [otherAsset.id, otherAsset.hash, shared.id, shared.hash].map((id) => `/${id}`);
  const invalidThumbnailPaths = ["/1/255", "/2/256", `/${otherAsset.id}/256`, "/1/4096"];
  for (const path of [...invalidNumbers, ...ids, ...invalidThumbnailPaths, "/workflow"])
    expect([path, await getStatus(token, path)]).toEqual([path, 404]);
  const file = await getBytes(await requestShare(token, "/1"));
  const ignoredQueries = [`?asset=${otherAsset.id}`, "?connection=other", `?id=${otherAsset.id}`, `?filename=${otherAsset.hash}.png`];
  for (const query of [...ignoredQueries, "?number=2", "?offset=1"])
    expect([query, (await getBytes(await requestShare(token, `/1${query}`))).equals(file)]).toEqual([query, true]);
  // A path with .. leaves the share, so a session is required.
  for (const path of ["/..", "/%2e%2e", "/1/../../../assets", "/1/%2e%2e/%2e%2e"])
    expect([401, 404]).toContain(await getStatus(token, path));
  // Item 1 of the second share is its own file.
  expect((await getBytes(await requestShare(otherShare.token, "/1"))).equals(file)).toBe(false);
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

test("shares a job's outputs and, if chosen, its redacted workflow", async () => {
  const job = await runJob();
  const shareWithoutWorkflow = await share({ job });
  const visitResult = await visit(shareWithoutWorkflow.token);
  expect(visitResult.kind === "open" && visitResult.page.items.map(({ kind }) => kind).sort()).toEqual(["image", "text"]);
  expect(JSON.stringify(visitResult)).not.toContain(job);
  expect(JSON.stringify(visitResult)).not.toContain("sk-a-key");
  expect(await getStatus(shareWithoutWorkflow.token, "/workflow")).toBe(404);
  const shareWithWorkflow = await share({ job, showsWorkflow: true });
  const workflow = await (await requestShare(shareWithWorkflow.token, "/workflow")).text();
  expect(JSON.parse(workflow)).toMatchObject({ "1": graph["1"], "3": { inputs: { source: "[REDACTED]" } } });
  expect(workflow).not.toContain(job);
  const text = visitResult.kind === "open" ? visitResult.page.items.find(({ kind }) => kind === "text") : undefined;
  expect(await getStatus(shareWithoutWorkflow.token, `/${text?.number}`)).toBe(404);
  // Later results of the job, or of another job, are not in the share.
  expect(await getStatus(shareWithoutWorkflow.token, "/3")).toBe(404);
});

test("rejects, omits or accepts a file with metadata that can't be removed", async () => {
  const form = new FormData();
  form.set("file", new Blob(["<svg xmlns='http://www.w3.org/2000/svg'/>"], { type: "image/svg+xml" }), "drawn.svg");
  const svg = (await (await harness.request("/api/assets", { as: "operator", method: "POST", body: form })).json()).id as string;
  const assets = [shared.id, svg];
  const refusal = await createShare({ assets, expiresInMs: DAY_MS });
  expect(refusal.status).toBe(422);
  expect(await refusal.json()).toMatchObject({ code: "UNPROCESSABLE", details: { notCleanable: ["drawn.svg"] } });
  expect((await share({ assets, leavesOut: true })).count).toBe(1);
  const { token } = await share({ assets, keepsMetadata: true });
  const { headers, body } = await requestShare(token, "/2");
  await body?.cancel();
  expect(headers.get("content-type")).toBe("application/octet-stream");
  expect(headers.get("content-disposition")).toMatch(/^attachment/);
});

test("lets operators share only accessible assets while shares are enabled", async () => {
  const body = { assets: [shared.id], expiresInMs: DAY_MS };
  const invalidBodies: object[] = [
    { ...body, assets: [] },
    { ...body, job: "j" },
    { ...body, expiresInMs: 366 * DAY_MS },
    { ...body, expiresInMs: 0 },
    { ...body, password: "short" },
    { ...body, assets: Array.from({ length: 101 }, (_, index) => String(index)) },
  ];
  for (const json of invalidBodies) expect([json, (await createShare(json)).status]).toEqual([json, 400]);
  expect((await createShare({ ...body, assets: ["00000000-0000-4000-8000-000000000000"] })).status).toBe(404);
  const owner = { memberId: harness.getViewer("admin").memberId, createdAt: now() };
  const connection = await harness.console.store.connections.create({ name: "Theirs", baseUrl: "http://127.0.0.1:9", ...owner });
  expect((await createShare(body, "operator", connection.id)).status).toBe(404);
  const { token } = await share();
  harness.console.env.shares = false;
  expect((await createShare(body)).status).toBe(403);
  await expectClosed(token);
  harness.console.env.shares = true;
});
