// A connection whose service sends the files that a test provides, with a file store on another host.
import sharp from "sharp";
import { closeAfterwards } from "@/tests/support/close-afterwards";
import { connectService } from "@/tests/support/connection-client";
import { createHarness, type HarnessRequest } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

type ServedFile = { type: string; bytes: Buffer } | { location: string };

/** `files` are keyed by name or path, `previews` by asset id. `png` is a red image of 800 × 400 pixels. */
export async function startThumbnailHarness() {
  const files = new Map<string, ServedFile>();
  const previews = new Map<string, string>();
  const png = await sharp({ create: { width: 800, height: 400, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const storage = await openTestServer(({ url }, response) => {
    if (url.startsWith("/to?")) return void response.writeHead(302, { location: url.slice("/to?".length) }).end();
    response.writeHead(200, { "content-type": "image/png" }).end(png);
  });
  const harness = await createHarness({ settings: { LIGHTDESK_TRUSTED_HOSTS: storage.host }, upstreamLimits: { readMs: 2000 } });
  const service = await openTestServer(({ url }, response) => {
    const requestUrl = new URL(url, "http://x");
    if (requestUrl.pathname === "/api/assets") {
      const assets = [...previews].map(([id, preview_url]) => ({ id, name: id, mime_type: "application/x", preview_url, tags: [] }));
      return sendJsonResponse(response, { assets, total: assets.length, has_more: false });
    }
    const asset = requestUrl.pathname.match(/^\/api\/assets\/(\w+)$/)?.[1];
    if (asset) return sendJsonResponse(response, { id: asset, name: asset, mime_type: "application/x", preview_url: previews.get(asset) });
    const file = files.get(requestUrl.searchParams.get("filename") ?? requestUrl.pathname);
    if (!file) return sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
    if ("location" in file) return void response.writeHead(302, { location: file.location }).end();
    response.writeHead(200, { "content-type": file.type }).end(file.bytes);
  });
  const connection = await harness.connect(service.url, "sk-secret-key");
  return {
    connection,
    files,
    previews,
    png,
    storage,
    harness,
    service,
    /** Lists assets as the gallery does. */
    listAssets: () => harness.request(`/api/assets?connection=${connection}`, { as: "viewer" }),
    requestThumbnail: (query: string, options?: HarnessRequest) =>
      harness.request(`/api/console/thumbnail?connection=${connection}&${query}`, { as: "viewer", ...options }),
    /** Connects another service, which sends every file with `respond`. */
    async connect(respond: Parameters<typeof openTestServer>[0]) {
      const { server, send } = await connectService(harness, respond);
      return { server, requestThumbnail: (query: string, options?: HarnessRequest) => send(`/api/console/thumbnail?${query}`, options) };
    },
    dispose: closeAfterwards(async () => void (await Promise.all([service.close(), storage.close()]))),
  };
}

export const readImage = async (response: Response) => sharp(Buffer.from(await response.arrayBuffer()));
