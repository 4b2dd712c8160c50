// Measures thumbnails through the console's route: many requests at once, cold and warm, and one picture that all clients request at the
// same time.
import sharp from "sharp";
import { sendJsonResponse, startTestServer } from "../support/test-server";
import { formatTable } from "./figures";
import { type ConsoleProcess, post } from "./processes";

const PICTURE_COUNT = 120;
export const CLIENT_COUNT = 24;
const EDGE_PX = 1024;

type Figure = { name: string; perSecond: number; durationMs: number; note: string };

/** `desk` must be new, so that none of its thumbnails is cached. */
export async function measureThumbnails(desk: ConsoleProcess): Promise<Figure[]> {
  const ids: string[] = [];
  const createPicture = await createNoisePictures(EDGE_PX);
  for (let index = 0; index < PICTURE_COUNT; index += 1) ids.push(await uploadPicture(desk, await createPicture(index)));
  const urls = ids.map((id) => `${desk.url}/api/console/thumbnail?connection=embedded&edge=256&version=1&asset=${id}`);
  const cold = await requestAll(desk, urls);
  const warm = await requestAll(desk, [...urls, ...urls, ...urls, ...urls]);
  return [
    {
      name: "cold",
      perSecond: PICTURE_COUNT / cold,
      durationMs: cold * 1000,
      note: `${PICTURE_COUNT} pictures of ${EDGE_PX} × ${EDGE_PX}`,
    },
    { name: "warm", perSecond: (PICTURE_COUNT * 4) / warm, durationMs: warm * 1000, note: "from the console's disk" },
    await measureSharedPicture(desk),
  ];
}

/** Uses a separate service that counts how often the picture is fetched. */
async function measureSharedPicture(desk: ConsoleProcess): Promise<Figure> {
  const bytes = await (await createNoisePictures(4096))(0);
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
  const seconds = await requestAll(desk, Array<string>(CLIENT_COUNT).fill(url));
  const fetches = service.requests.filter((request) => request.url.startsWith("/preview.png")).length;
  await service.close();
  return {
    name: "one picture of 4096 × 4096",
    perSecond: CLIENT_COUNT / seconds,
    durationMs: seconds * 1000,
    note: `fetches from its service: ${fetches}`,
  };
}

/** Returns the seconds until all responses are complete. */
export async function requestAll(desk: ConsoleProcess, urls: readonly string[]): Promise<number> {
  const remainingUrls = [...urls];
  const started = performance.now();
  const requestNext = async () => {
    for (let url = remainingUrls.shift(); url !== undefined; url = remainingUrls.shift()) {
      const response = await fetch(url, { headers: desk.headers });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${url} responded with ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENT_COUNT }, requestNext));
  return (performance.now() - started) / 1000;
}

async function uploadPicture(desk: ConsoleProcess, bytes: Buffer): Promise<string> {
  const body = new FormData();
  body.set("tags", '["bench"]');
  body.set("file", new File([Uint8Array.from(bytes)], "bench.png", { type: "image/png" }));
  const response = await fetch(`${desk.url}/api/assets?connection=embedded`, { method: "POST", body, headers: desk.headers });
  if (response.status !== 201) throw new Error(`upload responded with ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id; // the API defines this response
}

/** Returns a function that creates pictures about as compressible as those of models, each with a different first pixel. */
export async function createNoisePictures(edge: number): Promise<(index: number) => Promise<Buffer>> {
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

export function formatThumbnails(figures: readonly Figure[]): string {
  return formatTable(
    [`${CLIENT_COUNT} clients at a time`, "thumbnails/s", "total ms", ""],
    figures.map(({ name, perSecond, durationMs, note }) => [name, perSecond.toFixed(0), durationMs.toFixed(0), note]),
  );
}
