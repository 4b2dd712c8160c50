// The thumbnail route with content that is expensive or reveals too much, services that hang, and clients that leave.
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLittleServer } from "@/tests/support/little-server";
import { until } from "@/tests/support/until";
import { startThumbnailWorld } from "./thumbnail-world";

let world: Awaited<ReturnType<typeof startThumbnailWorld>>;
beforeAll(async () => {
  world = await startThumbnailWorld();
});
afterAll(() => world.dispose());

const ask = (connection: string, file: string, asking?: { signal: AbortSignal }) =>
  world.harness.request(`/api/console/thumbnail?connection=${connection}&filename=${file}&edge=256`, {
    as: "viewer",
    signal: asking?.signal,
  });

/** Answers only when told to. */
async function startHolding() {
  const pending: (() => void)[] = [];
  let left = 0;
  const server = await startLittleServer((_, response) => {
    response.once("close", () => (left += response.writableFinished ? 0 : 1));
    pending.push(() => void response.writeHead(200, { "content-type": "image/png" }).end(world.png));
  });
  return { ...server, pending, left: () => left, connection: await world.harness.connect(server.url, "sk-secret-key") };
}

async function made(name: string, bytes: Buffer): Promise<Buffer> {
  world.files.set(name, { type: "image/webp", bytes });
  const answer = await world.ask(`filename=${name}&edge=256`);
  expect([name, answer.status]).toEqual([name, 200]);
  return Buffer.from(await answer.arrayBuffer());
}

test("what its service made small stays as it is; what moves, tells where it was taken or is heavy is drawn anew", async () => {
  const picture = () => sharp({ create: { width: 200, height: 100, channels: 3, background: "red" } });
  const small = await picture().webp().toBuffer();
  expect((await made("small", small)).equals(small)).toBe(true);

  const silentPicture = await picture()
    .withExif({ IFD3: { GPSLatitude: "51/1 30/1 0/1" }, IFD0: { Copyright: "a home" } })
    .webp()
    .toBuffer();
  expect(silentPicture.includes("a home")).toBe(true);
  const silent = await made("told", silentPicture);
  expect([(await sharp(silent).metadata()).exif, silent.includes("a home")]).toEqual([undefined, false]);

  const frames = Buffer.concat(Array.from({ length: 3 }, (_, at) => Buffer.alloc(200 * 100 * 3, at * 80)));
  const moving = await sharp(frames, { raw: { width: 200, height: 300, channels: 3, pageHeight: 100 } })
    .webp()
    .toBuffer();
  expect((await sharp(moving).metadata()).pages).toBe(3);
  expect((await sharp(await made("moving", moving)).metadata()).pages).toBeUndefined();

  const behind = Buffer.concat([small, Buffer.from("what stands behind a picture")]);
  expect((await made("behind", behind)).includes("stands behind")).toBe(false);
  const heavy = Buffer.concat([small, Buffer.alloc(1024 ** 2)]);
  expect((await made("heavy", heavy)).length).toBeLessThan(1000);
});

test("a drawing is not handed to the decoder, not even for its size: a heavy one takes no memory", async () => {
  const bytes = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg">${'<rect width="1" height="1" fill="url(#a)"/>'.repeat(300_000)}</svg>`,
  );
  world.files.set("heavy.svg", { type: "image/png", bytes });
  const highestBefore = process.resourceUsage().maxRSS;
  expect((await world.ask("filename=heavy.svg&edge=128")).status).toBe(204);
  expect((process.resourceUsage().maxRSS - highestBefore) / 1024).toBeLessThan(150);
});

test("a service that hangs holds up its own pictures only", async () => {
  const hanging = await startHolding();
  const leaving = new AbortController();
  const waiting = Array.from({ length: 24 }, (_, at) => ask(hanging.connection, `${at}.png`, leaving));
  await until("sixteen are asked for", () => hanging.pending.length === 16);
  world.files.set("elsewhere.png", { type: "image/png", bytes: world.png });
  expect((await world.ask("filename=elsewhere.png&edge=128")).status).toBe(200);
  expect(hanging.left()).toBe(0);
  leaving.abort();
  await Promise.all(waiting);
  // Requests that nobody waits for any more were aborted, and those still queued were never sent.
  await until("sixteen are left", () => hanging.left() === 16);
  expect(hanging.pending).toHaveLength(16);
  await hanging.close();
});

test("a hundred who ask at once are one fetch; who leaves ends nothing for the others, and the last one ends it", async () => {
  const slow = await startHolding();
  const leaving = Array.from({ length: 100 }, () => new AbortController());
  const asked = leaving.map((each) => ask(slow.connection, "one.png", each));
  await until("it is asked for", () => slow.pending.length === 1);
  for (const each of leaving.slice(0, 40)) each.abort();
  slow.pending[0]?.();
  expect((await Promise.all(asked.slice(40))).map(({ status }) => status)).toEqual(Array(60).fill(200));
  expect([slow.pending.length, slow.left()]).toEqual([1, 0]);

  const alone = new AbortController();
  const given = ask(slow.connection, "two.png", alone);
  await until("the second is asked for", () => slow.pending.length === 2);
  alone.abort();
  await until("it is left", () => slow.left() === 1);
  expect((await given).ok).toBe(false);
  const again = ask(slow.connection, "two.png");
  await until("it is asked for anew", () => slow.pending.length === 3);
  slow.pending[2]?.();
  expect((await again).status).toBe(200);
  await slow.close();
});

test("what is kept for one connection or key is not shown to another, nor to somebody who is not signed in", async () => {
  const name = `${"c".repeat(64)}.png`;
  world.files.set(name, { type: "image/png", bytes: world.png });
  expect((await world.ask(`filename=${name}&edge=256`)).status).toBe(200);
  const asks = () => world.service.seen.filter(({ url }) => url.includes(name)).map(({ headers }) => headers["x-api-key"]);
  expect(asks()).toEqual(["sk-secret-key"]);
  const other = await world.harness.connect(world.service.url, "sk-other-key");
  world.files.delete(name);
  expect((await ask(other, name)).status).toBe(404);
  expect(asks()).toEqual(["sk-secret-key", "sk-other-key"]);
  const stranger = await world.harness.request(`/api/console/thumbnail?connection=${other}&filename=${name}&edge=256`);
  expect([stranger.status, stranger.headers.get("content-type")]).toEqual([401, "application/json"]);
  expect(asks()).toHaveLength(2);
});
