// The limit on files in memory while creating thumbnails, for all connections.
import sharp from "sharp";
import { expect, test } from "vitest";
import { toThumbnail } from "@/lib/server/thumbnails/resize";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";

const harness = await createHarness({ upstreamLimits: { readMs: 15_000 } });
const png = await sharp({ create: { width: 80, height: 40, channels: 3, background: "red" } })
  .png()
  .toBuffer();

test("processes twelve large files at once without delaying a small one", async () => {
  const pending: (() => void)[] = [];
  const service = await openTestServer(({ url }, response) => {
    if (url.includes("small")) return void response.setHeader("content-length", png.length).end(png);
    response.writeHead(200, { "content-type": "image/png" });
    // Sent without a Content-Length.
    if (url.includes("whole")) return void response.end(png);
    response.write(png.subarray(0, 40));
    pending.push(() => void response.end(png.subarray(40)));
  });
  const [first, two, three] = await Promise.all(["1", "2", "3"].map((key) => harness.connect(service.url, key)));
  const get = async (connection: string | undefined, file: string, signal?: AbortSignal) =>
    (await harness.request(`/api/console/thumbnail?connection=${connection}&filename=${file}&edge=256`, { as: "viewer", signal })).status;
  const large = [first, two].flatMap((each) => Array.from({ length: 6 }, (_, at) => get(each, `${at}.png`)));
  await until("twelve are asked for", () => pending.length === 12);
  let responded: number | undefined;
  const controller = new AbortController();
  const waiting = get(three, "whole.png").then((status) => (responded = status));
  const abandoned = get(three, "whole-too.png", controller.signal);
  await until("the others are asked for", () => service.requests.length === 14);
  for (let at = 0; at < 10; at += 1) expect(await get(three, `small${at}.png`)).toBe(200);
  expect(responded).toBeUndefined();
  controller.abort();
  pending.shift()?.();
  expect(await waiting).toBe(200);
  expect(await abandoned).toBe(499);
  for (const end of pending) end();
  expect(await Promise.all(large)).toEqual(Array(12).fill(200));
}, 30_000);

test("skips abandoned pictures when their turn comes", async () => {
  const heavy = await sharp({ create: { width: 5200, height: 5200, channels: 3, background: "red" } })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const [staying, controller] = [new AbortController(), new AbortController()];
  const thumbnails = [staying, controller].map(({ signal }) => toThumbnail(heavy, { edge: 128, signal }));
  controller.abort();
  expect(await Promise.all(thumbnails)).toEqual([{ thumbnail: expect.any(Uint8Array) }, undefined]);
}, 30_000);
