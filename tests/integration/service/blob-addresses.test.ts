// Signed addresses of files in a bucket: who gets one, how long it is valid, and which requests the service still answers itself.
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { operations } from "@/lib/contract/operations";
import { createGuardedSend, createHttpSend } from "@/lib/server/upstream/send";
import { createUpstream } from "@/lib/server/upstream/upstream";
import { bucketSettings } from "@/tests/support/blob-places";
import { startLittleServer } from "@/tests/support/little-server";
import { type Client, createClient, type ServiceBench, startService } from "@/tests/support/service";
import { startStrictS3, type StrictS3 } from "@/tests/support/strict-s3";
import { png, record, string } from "./support";

const SECONDS = 60;
const picture = png(20, 20, { seed: 5 });
let s3: StrictS3;
let bench: ServiceBench;
let client: Client;
let key: string;
beforeAll(async () => {
  s3 = await startStrictS3();
  bench = await startService(bucketSettings(s3, "here", { LIGHTDESK_BLOBS_PRESIGNED_SECONDS: String(SECONDS) }));
  ({ key } = await bench.service.keys.createKey("ada"));
  client = createClient((request) => bench.service.fetch(request), key);
});
afterEach(() => {
  s3.state.aheadMs = 0;
  s3.state.isGone = false;
});
afterAll(async () => {
  await bench.dispose();
  await s3.close();
});

async function upload(bytes: Uint8Array<ArrayBuffer> | string, name: string) {
  const { body } = await client.upload(bytes, name);
  return { id: string(record(body).id), hash: string(record(body).asset_hash).slice(7) };
}
const wholeOf = ({ id, hash }: { id: string; hash: string }, ending: string) => [
  `/api/assets/${id}/content`,
  `/api/view?filename=${hash}.${ending}`,
];
async function addressOf(path: string): Promise<string> {
  const answer = await client.raw("GET", path);
  expect([path, answer.status, answer.headers.get("cache-control"), await answer.text()]).toEqual([path, 302, "no-store", ""]);
  return answer.headers.get("location") ?? "";
}

it("sends whoever may read a whole file to the bucket, which hands it over without a key, under its type and name", async () => {
  const file = await upload(picture, "Grüße 1.png");
  for (const path of wholeOf(file, "png")) {
    const answer = await fetch(await addressOf(path));
    const { headers } = answer;
    expect([answer.status, headers.get("content-type"), headers.get("content-disposition")]).toEqual([
      200,
      "image/png",
      `inline; filename="Gr__e 1.png"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%201.png`,
    ]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(picture))).toBe(true);
  }
  expect(
    (await fetch(await addressOf(`/api/assets/${file.id}/content?disposition=attachment`))).headers.get("content-disposition"),
  ).toMatch(/^attachment; /);
  const page = await upload("<script>1</script>", "page.html");
  for (const path of wholeOf(page, "html"))
    expect((await fetch(await addressOf(path))).headers.get("content-disposition")).toMatch(/^attachment; /);
});

it("tells no address to whoever may not read the file", async () => {
  const file = await upload(picture, "hers.png");
  const stranger = bench.client("eve");
  for (const path of wholeOf(file, "png")) {
    for (const answer of [await stranger.raw("GET", path), await bench.anonymous().raw("GET", path)])
      expect([path, [401, 404].includes(answer.status), answer.headers.get("location")]).toEqual([path, true, null]);
  }
});

it("signs what it says and for how long: another file, another type, another deed and another hour are refused by the bucket", async () => {
  const file = await upload(picture, "signed.png");
  const other = await upload("other", "other.txt");
  const address = await addressOf(`/api/assets/${file.id}/content`);
  expect(new URL(address).searchParams.get("X-Amz-Expires")).toBe(String(SECONDS));
  const keyOf = (hash: string) => `${hash.slice(0, 2)}/${hash.slice(2)}`;
  for (const changed of [address.replace(keyOf(file.hash), keyOf(other.hash)), address.replace("image%2Fpng", "text%2Fhtml")]) {
    expect(changed).not.toBe(address);
    expect((await fetch(changed)).status).toBe(403);
  }
  for (const method of ["PUT", "DELETE"]) expect((await fetch(address, { method })).status, method).toBe(403);
  s3.state.aheadMs = SECONDS * 1000 - 5000;
  expect((await fetch(address)).status).toBe(200);
  s3.state.aheadMs = SECONDS * 1000 + 5000;
  expect((await fetch(address)).status).toBe(403);
});

it("answers ranges, HEAD, what the client has already, thumbnails, channels and users' own files itself", async () => {
  const file = await upload(picture, "own.png");
  for (const path of wholeOf(file, "png")) {
    const part = await client.raw("GET", path, undefined, { range: "bytes=0-3" });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, Buffer.from(picture.subarray(0, 4))]);
    expect((await client.raw("GET", path, undefined, { range: "bytes=0-3", "if-range": '"another"' })).status).toBe(200);
    const head = await client.raw("HEAD", path);
    expect([head.status, head.headers.get("etag"), head.headers.get("content-length")]).toEqual([
      200,
      `"${file.hash}"`,
      String(picture.length),
    ]);
    expect((await client.raw("GET", path, undefined, { "if-none-match": `"${file.hash}"` })).status).toBe(304);
  }
  for (const more of ["&res=64", "&channel=rgb"]) expect((await client.raw("GET", `/api/view?filename=${file.hash}.png${more}`)).status).toBe(200); // prettier-ignore
  expect((await client.call("POST", "/api/userdata/a.json", "{}")).status).toBe(200);
  expect((await client.raw("GET", "/api/userdata/a.json")).status).toBe(200);
});

it("says in its own words what is missing or damaged, and that the bucket is away", async () => {
  const file = await upload("to be lost", "lost.txt");
  const path = `/api/assets/${file.id}/content`;
  s3.state.isGone = true;
  expect(await client.get(path)).toMatchObject({ status: 503, body: { message: expect.stringContaining("object store") } });
  s3.state.isGone = false;
  const stored = `here/blake3-v1/${file.hash.slice(0, 2)}/${file.hash.slice(2)}`;
  await s3.plant(stored, Buffer.from("short"));
  expect(await client.get(path)).toMatchObject({ status: 500, body: { message: expect.stringContaining("are damaged") } });
  s3.objects.delete(stored);
  expect(await client.get(path)).toMatchObject({ status: 404, body: { message: expect.stringContaining("are missing") } });
});

it("streams by itself where nothing is set", async () => {
  const quiet = await startService(bucketSettings(s3, "quiet"));
  const other = quiet.client();
  const { id } = record((await other.upload(picture, "a.png")).body);
  expect((await other.raw("GET", `/api/assets/${string(id)}/content`)).status).toBe(200);
  await quiet.dispose();
});

it("lets a console fetch without its key, and only from a host that is public or trusted", async () => {
  const file = await upload(picture, "for a console.png");
  const door = await startLittleServer(async ({ method, url, headers }, response) => {
    const asked = new Headers();
    for (const [name, value] of Object.entries(headers)) if (typeof value === "string") asked.set(name, value);
    const answer = await bench.service.fetch(new Request(`http://service.test${url}`, { method, headers: asked }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.from(answer.body).pipe(response);
    else response.end();
  });
  const send = createHttpSend();
  const bucket = new URL(s3.endpoint).host;
  for (const [trustedHosts, isLet] of [[[bucket], true] as const, [[], false] as const]) {
    const sendForeign = createGuardedSend({ trustedHosts });
    const { forward } = createUpstream({ baseUrl: door.url, apiKey: key, send, sendForeign });
    s3.headers.length = 0;
    const opened = await forward(operations.getAssetContent, { params: { id: file.id } });
    expect(opened.ok).toBe(isLet);
    if (opened.ok) {
      expect([opened.value.status, opened.value.headers.get("content-type")]).toEqual([200, "image/png"]);
      expect(Buffer.from(await opened.value.arrayBuffer()).equals(Buffer.from(picture))).toBe(true);
    }
    const fetched = s3.headers.filter(({ method }) => method === "GET");
    expect(fetched.length).toBe(isLet ? 1 : 0);
    expect(JSON.stringify(fetched)).not.toContain(key);
    await sendForeign.close();
  }
  await send.close();
  await door.close();
});
