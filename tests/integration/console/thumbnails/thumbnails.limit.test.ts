// The limit on files in memory while creating thumbnails, for all connections.
import sharp from "sharp";
import { expect, test } from "vitest";
import { renderThumbnail } from "@/lib/server/thumbnails/resize";
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
  const [first, second, third] = await Promise.all(["1", "2", "3"].map((key) => harness.connect(service.url, key)));
  const getStatus = async (connection: string | undefined, file: string, signal?: AbortSignal) =>
    (await harness.request(`/api/console/thumbnail?connection=${connection}&filename=${file}&edge=256`, { as: "viewer", signal })).status;
  const largeRequests = [first, second].flatMap((connection) =>
    Array.from({ length: 6 }, (_, index) => getStatus(connection, `${index}.png`)),
  );
  await until("twelve requests arrive", () => pending.length === 12);
  let wholeStatus: number | undefined;
  const controller = new AbortController();
  const wholeRequest = getStatus(third, "whole.png").then((status) => (wholeStatus = status));
  const abandonedRequest = getStatus(third, "whole-too.png", controller.signal);
  await until("the other requests arrive", () => service.requests.length === 14);
  for (let index = 0; index < 10; index += 1) expect(await getStatus(third, `small${index}.png`)).toBe(200);
  expect(wholeStatus).toBeUndefined();
  controller.abort();
  pending.shift()?.();
  expect(await wholeRequest).toBe(200);
  expect(await abandonedRequest).toBe(499);
  for (const finishResponse of pending) finishResponse();
  expect(await Promise.all(largeRequests)).toEqual(Array(12).fill(200));
}, 30_000);

test("skips queued images whose request was aborted", async () => {
  const largeImage = await sharp({ create: { width: 5200, height: 5200, channels: 3, background: "red" } })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const [activeController, controller] = [new AbortController(), new AbortController()];
  const thumbnails = [activeController, controller].map(({ signal }) => renderThumbnail(largeImage, { edge: 128, signal }));
  controller.abort();
  expect(await Promise.all(thumbnails)).toEqual([{ thumbnail: expect.any(Uint8Array) }, undefined]);
}, 30_000);
