// Downloads of many assets as one ZIP archive.
import { expect, test } from "vitest";
import { connectService, createConnectionClient } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { readZip } from "@/tests/support/read-zip";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const harness = await createHarness();
const embedded = createConnectionClient(harness, "embedded");

async function upload(name: string, text: string): Promise<string> {
  const body = new FormData();
  body.set("tags", '["input","zipped"]');
  body.set("name", name);
  body.set("file", new File([text], name));
  const response = await embedded.send("/api/assets", { as: "operator", method: "POST", body });
  expect(response.status).toBe(201);
  return (await response.json()).id;
}
const createArchive = ({ post }: Pick<typeof embedded, "post">, json: unknown) => post("/api/console/archive", json);
/** Creates an archive and returns its path. */
async function prepareArchive(client: Pick<typeof embedded, "post">, json: unknown): Promise<string> {
  const response = await createArchive(client, json);
  expect(response.status).toBe(201);
  return `/api/console/archive/${(await response.json()).id}`;
}
const requestFile = (path: string, method = "GET") => harness.request(path, { as: "viewer", method });
async function unpack(file: Response): Promise<Record<string, string>> {
  const files = readZip(Buffer.from(await file.arrayBuffer()));
  return Object.fromEntries([...files].map(([name, bytes]) => [name, bytes.toString()]));
}

test("zips selected assets under unique safe names and lists the missing ones", async () => {
  const ids = [await upload("a.png", "one"), await upload("A.png", "two"), await upload("../../etc/pass\u00fc.txt", "three")];
  const file = await requestFile(await prepareArchive(embedded, { ids: [...ids, "00000000-0000-4000-8000-000000000000"] }));
  expect([file.status, file.headers.get("content-type")]).toEqual([200, "application/zip"]);
  expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename="assets-\d{4}-\d\d-\d\d\.zip"$/);
  const files = await unpack(file);
  expect(files["a.png"]).toBe("one");
  expect(files["A (2).png"]).toBe("two");
  expect(Object.keys(files).find((name) => name.endsWith("pass\u00fc.txt"))).not.toMatch(/^\.|\//);
  expect(files["NOT INCLUDED.txt"]).toContain("00000000-0000-4000-8000-000000000000: NOT_FOUND");
});

test("shortens long names, keeps extensions and stores duplicates once", async () => {
  const nameWithLongStem = `${"n".repeat(250)}.png`;
  const nameWithLongExtension = `m.${"e".repeat(240)}`;
  const ids = [
    await upload(nameWithLongStem, "four"),
    await upload("no.ending at all here", "five"),
    await upload("...", "six"),
    await upload(nameWithLongExtension, "7"),
  ];
  const file = await requestFile(await prepareArchive(embedded, { ids: [...ids, ...ids] }));
  expect(await unpack(file)).toEqual({
    [`${"n".repeat(180)}.png`]: "four",
    "no.ending at all here": "five",
    file: "six",
    [nameWithLongExtension.slice(0, 180)]: "7",
  });
});

test("counts and zips everything that a list's filters match", async () => {
  const response = await createArchive(embedded, { query: "include_tags=zipped&include_public=false" });
  const { id, count, isCut } = await response.json();
  expect([count, isCut]).toEqual([7, false]);
  const file = await requestFile(`/api/console/archive/${id}`);
  expect(Object.values(await unpack(file)).sort()).toEqual(["7", "five", "four", "one", "six", "three", "two"]);
});

test("ends the archive when a service repeats pages or stops paging", async () => {
  const ids = ["c1", "c2", "c3"];
  let pages = 0;
  const service = await connectService(harness, ({ url }, response) => {
    if (url.endsWith("/content")) return void response.writeHead(200).end("bytes");
    pages += 1;
    sendJsonResponse(response, { assets: ids.map((id) => ({ id, name: `${id}\u202e\0.bin`, tags: [] })) });
  });
  const path = await prepareArchive(service, { query: "" });
  pages = 0;
  const files = await unpack(await requestFile(path));
  expect([Object.keys(files).sort(), pages]).toEqual([["c1.bin", "c2.bin", "c3.bin"], 2]);
});

test("lists a file without content as missing", async () => {
  const service = await connectService(harness, ({ url }, response) => {
    if (url.endsWith("/content")) return void response.writeHead(204).end();
    sendJsonResponse(response, { id: "e1", name: "e1.bin", tags: [] });
  });
  const files = await unpack(await requestFile(await prepareArchive(service, { ids: ["e1"] })));
  expect(files).toEqual({ "NOT INCLUDED.txt": expect.stringContaining("e1.bin (e1): UPSTREAM_UNREADABLE") });
});

test("hides a selection from other members and rejects an invalid one", async () => {
  const path = await prepareArchive(embedded, { query: "" });
  expect((await harness.request(path, { as: "operator" })).status).toBe(404);
  for (const json of [{ ids: [] }, { query: "limit=many" }]) expect((await createArchive(embedded, json)).status).toBe(400);
});

test("handles HEAD and stops reading when the client disconnects", async () => {
  let [openCount, sentCount] = [0, 0];
  const service = await connectService(harness, ({ url }, response) => {
    if (!url.endsWith("/content")) return sendJsonResponse(response, { id: "a1", name: "film.bin", tags: [] });
    openCount += 1;
    response.once("close", () => (openCount -= 1));
    const chunk = Buffer.alloc(1024 ** 2);
    const writeMore = () => {
      while (!response.destroyed && response.write(chunk)) sentCount += 1;
      if (!response.destroyed) response.once("drain", writeMore);
    };
    writeMore();
  });
  const path = await prepareArchive(service, { ids: ["a1"] });
  const head = await requestFile(path, "HEAD");
  expect([head.status, head.headers.get("content-type"), head.body]).toEqual([200, "application/zip", null]);
  const reader = (await requestFile(path)).body?.getReader();
  while (openCount === 0) await reader?.read();
  await reader?.cancel().catch(() => undefined); // expected, since this test aborts the archive
  await until("the request to the service is closed", () => openCount === 0);
  expect(sentCount).toBeLessThan(50);
});

test("aborts the archive when an asset's content is cut off", async () => {
  const service = await connectService(harness, ({ url }, response) => {
    const match = /^\/api\/assets\/(\w+)(\/content)?/.exec(url);
    if (!match) return sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
    if (!match[2]) return sendJsonResponse(response, { id: match[1], name: `${match[1]}.bin`, tags: [] });
    response.writeHead(200, { "content-length": "100" }).write("half", () => response.destroy());
  });
  const file = await requestFile(await prepareArchive(service, { ids: ["a1"] }));
  await expect(file.arrayBuffer()).rejects.toThrow();
});

test("downloads by hash from a service without the content extension", async () => {
  const service = await connectService(harness, ({ url }, response) => {
    const requestUrl = new URL(url, "http://x");
    if (requestUrl.pathname === "/api/assets/b1")
      return sendJsonResponse(response, { id: "b1", name: "b.bin", asset_hash: "blake3:ff", tags: ["output"] });
    if (requestUrl.pathname === "/api/view" && requestUrl.searchParams.get("filename") === "blake3:ff")
      return void response.writeHead(200).end("bytes");
    sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
  });
  const file = await requestFile(await prepareArchive(service, { ids: ["b1"] }));
  expect(await unpack(file)).toEqual({ "b.bin": "bytes" });
});
