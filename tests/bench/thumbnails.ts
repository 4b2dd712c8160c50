// Thumbnails through the console's own route, as a gallery asks for them: many requests at once, cold and warm; and one picture that all
// clients ask for at the same time.
import sharp from "sharp";
import { sendJsonResponse, startTestServer } from "../support/test-server";
import { table } from "./figures";
import { type Desk, post } from "./processes";

const PICTURES = 120;
export const REQUESTERS = 24;
const WIDTH = 1024;

type Figure = { name: string; perSecond: number; millis: number; note: string };

/** `desk` must be new, so that none of its pictures was requested before. */
export async function measureThumbnails(desk: Desk): Promise<Figure[]> {
  const ids: string[] = [];
  const drawNoise = await noise(WIDTH);
  for (let index = 0; index < PICTURES; index += 1) ids.push(await uploadPicture(desk, await drawNoise(index)));
  const urls = ids.map((id) => `${desk.url}/api/console/thumbnail?connection=embedded&edge=256&version=1&asset=${id}`);
  const cold = await requestAll(desk, urls);
  const warm = await requestAll(desk, [...urls, ...urls, ...urls, ...urls]);
  return [
    { name: "cold", perSecond: PICTURES / cold, millis: cold * 1000, note: `${PICTURES} pictures of ${WIDTH} × ${WIDTH}` },
    { name: "warm", perSecond: (PICTURES * 4) / warm, millis: warm * 1000, note: "from the console's disk" },
    await oneForMany(desk),
  ];
}

/** The picture is on a service of its own, which counts how often it is fetched. */
async function oneForMany(desk: Desk): Promise<Figure> {
  const bytes = await (await noise(4096))(0);
  const service = await startTestServer(({ url }, response) => {
    if (url.startsWith("/preview.png")) return void response.writeHead(200, { "content-type": "image/png" }).end(bytes);
    if (url === "/api/user") return sendJsonResponse(response, { status: "active" });
    if (url.startsWith("/api/assets/one")) return sendJsonResponse(response, { id: "one", name: "one.png", preview_url: "/preview.png" });
    sendJsonResponse(response, {}, 404);
  });
  const connection = { name: "Counts", baseUrl: service.url, key: "bench" };
  const { connection: createdConnection } = await post<{ connection: { id: string } }>(
    `${desk.url}/api/console/connections`,
    connection,
    desk.headers,
  );
  const url = `${desk.url}/api/console/thumbnail?connection=${createdConnection.id}&edge=512&version=1&asset=one`;
  const seconds = await requestAll(desk, Array<string>(REQUESTERS).fill(url));
  const fetches = service.requests.filter((request) => request.url.startsWith("/preview.png")).length;
  await service.close();
  return {
    name: "one picture of 4096 × 4096",
    perSecond: REQUESTERS / seconds,
    millis: seconds * 1000,
    note: `fetches from its service: ${fetches}`,
  };
}

/** Seconds until all of them have arrived completely. */
export async function requestAll(desk: Desk, urls: readonly string[]): Promise<number> {
  const waiting = [...urls];
  const started = performance.now();
  const asker = async () => {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      const response = await fetch(url, { headers: desk.headers });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: REQUESTERS }, asker));
  return (performance.now() - started) / 1000;
}

async function uploadPicture(desk: Desk, bytes: Buffer): Promise<string> {
  const body = new FormData();
  body.set("tags", '["bench"]');
  body.set("file", new File([Uint8Array.from(bytes)], "bench.png", { type: "image/png" }));
  const response = await fetch(`${desk.url}/api/assets?connection=embedded`, { method: "POST", body, headers: desk.headers });
  if (response.status !== 201) throw new Error(`the upload was answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id; // the interface defines this answer
}

/** Pictures that compress about as well as those of models; each has a different first pixel, and so a different content. */
export async function noise(edge: number): Promise<(index: number) => Promise<Buffer>> {
  const grain = { type: "gaussian" as const, mean: 120, sigma: 12 };
  const size = { width: edge, height: edge, channels: 3 as const };
  const pixels = await sharp({ create: { ...size, background: "black", noise: grain } })
    .raw()
    .toBuffer();
  return (index) => {
    pixels.writeUInt16LE(index);
    return sharp(pixels, { raw: size }).png({ compressionLevel: 1 }).toBuffer();
  };
}

export function thumbnailsTable(figures: readonly Figure[]): string {
  return table(
    [`${REQUESTERS} askers at a time`, "thumbnails/s", "ms in all", ""],
    figures.map(({ name, perSecond, millis, note }) => [name, perSecond.toFixed(0), millis.toFixed(0), note]),
  );
}
