// A service may repeat the key that it is called with anywhere in its responses. Users of a shared connection must never see it. Generated for every
// route.
import { readdirSync, readFileSync } from "node:fs";
import { type ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { readZip } from "@/tests/support/read-zip";
import { loadRoutes, type Route } from "@/tests/support/routes";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const KEY = "team-key-9f3b6c1d2e4a";
const ID = "00000000-0000-4000-8000-000000000000";
const echoed = `the key ${KEY} again`;
/** Matches every response schema, so that none is refused for its shape. */
function everything(word: string) {
  const graph = { prompt: {}, extra_data: { [word]: word, extra_pnginfo: { workflow: { id: word, name: word } } } };
  const job = { id: word, status: word, create_time: word, workflow_id: word, workflow: graph };
  const asset = { id: word, name: word, size: 1, created_at: word, updated_at: word, tags: [word], mime_type: word, asset_hash: word };
  return {
    ...asset,
    ...job,
    ...{ execution_error: { exception_message: word, [word]: word }, display_name: word, mask: word },
    jobs: [job],
    pagination: { total: 1 },
    history: [{ prompt_id: word, create_time: 1, prompt: { prompt_id: word, extra_data: graph.extra_data } }],
    assets: [asset],
    total: 1,
    has_more: false,
    ...{ deleted: [word], cleared: true, code: word, message: word, prompt_id: word, task_id: word, error_message: word },
    ...{ total_tags: [word], added: [word], removed: [word], node_errors: { [word]: word }, cancelled: [word] },
    ...{ queue_running: [], queue_pending: [] },
    ...{ subfolder: word, type: word, path: word, modified: word, metadata: { [word]: word }, result: { error: word, filename: word } },
  };
}
const CUT = KEY.slice(0, 12);
const percent = [...Buffer.from(KEY)].map((byte) => `%${byte.toString(16)}`).join("");
/** Must not appear in any response, log line or stored data. */
const forbidden = [KEY, CUT, percent];
const escaped = (letters: string, by: string) => [...letters].map((letter) => `${by}u00${letter.charCodeAt(0).toString(16)}`).join("");
const asJson = (response: ServerResponse, text: string, status = 200) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(text);

const asHeader = `"${KEY}"`;
const echoes: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "in an answer": (response) => sendJsonResponse(response, everything(echoed)),
  "cut off": (response) => sendJsonResponse(response, everything(`the key ${CUT}`)),
  "cut off before dots": (response) => sendJsonResponse(response, everything(`the key ${CUT}… is yours, ${CUT}... is`)),
  "with every letter escaped": (response) => asJson(response, JSON.stringify(everything(echoed)).replaceAll(KEY, escaped(KEY, "\\"))),
  "in JSON inside a text": (response) =>
    sendJsonResponse(response, everything(`{"key":"${KEY}","cut":"${CUT}","letters":"${escaped(KEY, "\\")}"}`)),
  "percent-encoded": (response) => sendJsonResponse(response, everything(`https://example.com/?a=${percent}&b=${percent.toUpperCase()}`)),
  "where a refusal is cut": (response) => sendJsonResponse(response, { code: "BAD", message: `${"x".repeat(487)}${KEY}` }, 400),
  "escaped in a refusal": (response) => asJson(response, `{"message":"the key ${escaped(KEY, "\\")}"}`, 400),
  "in a list": (response) => sendJsonResponse(response, [{ path: echoed, size: 1, modified: echoed }]),
  "in a refusal": (response) => sendJsonResponse(response, { code: echoed, message: echoed, details: { [echoed]: echoed } }, 400),
  "in a refusal of the account": (response) => sendJsonResponse(response, { message: echoed }, 403),
  "in a fault": (response) => sendJsonResponse(response, { error: echoed, message: echoed }, 500),
  "in a plain text": (response) => void response.writeHead(422, { "content-type": "text/plain" }).end(echoed),
  "in a refusal of the key": (response) => sendJsonResponse(response, { message: echoed, code: KEY }, 401),
  "in a task that was started": (response) => sendJsonResponse(response, { task_id: KEY, status: KEY, message: echoed }, 202),
  "in a redirect": (response) => void response.writeHead(302, { location: `https://203.0.113.1/${KEY}?key=${KEY}`, etag: asHeader }).end(),
  "in the headers of a file": (response) =>
    void response
      .writeHead(200, {
        "content-type": `image/${KEY}`,
        "content-disposition": `inline; filename=${asHeader}`,
        etag: asHeader,
        "last-modified": KEY,
        "accept-ranges": KEY,
        "retry-after": KEY,
        "x-request-id": KEY,
        "set-cookie": `a=${KEY}`,
      })
      .end("bytes"),
  "in a refused range": (response) => void response.writeHead(416, { "content-range": `bytes */${KEY}`, etag: asHeader }).end(echoed),
  "in the words of its status line": (response) => void response.writeHead(418, echoed).end(),
};
let location = "in an answer";

const harness = await createHarness({ settings: { LIGHTDESK_LOG_LEVEL: "trace" }, upstreamLimits: { firstRetryMs: 1, longestWaitMs: 1 } });
const service = await openTestServer((_, response) => echoes[location]?.(response));
const connection = await harness.connect(service.url, KEY);

/** Bodies for routes that would refuse an empty object before calling the service. */
const bodies: Readonly<Record<string, unknown>> = {
  submitPrompt: { prompt: { "1": { class_type: "A", inputs: {} } } },
  manageQueue: { clear: true },
  manageHistory: { clear: true },
  addTags: { tags: ["a"] },
  removeTags: { tags: ["a"] },
  createAssetFromHash: { hash: "blake3:aa", tags: ["a"] },
  createOfKnownContent: { hash: "blake3:aa", tags: ["a"] },
  chooseArchive: { query: "" },
  downloadAsset: { source_url: "https://huggingface.co/a" },
  cancelJobs: { job_ids: [ID] },
  stopJobs: { ids: [ID] },
  exportJobs: { format: "json", ids: [ID] },
  updateAsset: { name: "a" },
  createConnection: { name: "x", baseUrl: "", key: KEY },
};

async function callRoute({ method, path, guard, handler }: Route, params: Record<string, string | string[]>) {
  const changes = method !== "GET" && method !== "HEAD";
  const multipart = path.startsWith("/api/upload") || (path === "/api/assets" && changes);
  const body = multipart
    ? '--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\na\r\n--x--\r\n'
    : JSON.stringify(
        guard?.action === "createConnection" ? { name: "x", baseUrl: service.url, key: KEY } : (bodies[guard?.action ?? ""] ?? {}),
      );
  const headers = {
    host: "desk.test",
    cookie: harness.cookieOf("owner"),
    range: "bytes=0-1",
    ...(changes && { origin: "http://desk.test", "content-type": multipart ? "multipart/form-data; boundary=x" : "application/json" }),
  };
  const query = `?connection=${connection}&filename=a&asset=${ID}&url=https%3A%2F%2Fhuggingface.co%2Fa&dir=a%2F`;
  return handler(new Request(`http://desk.test${path}${query}`, { method, headers, ...(changes && { body }) }), {
    params: Promise.resolve(params),
  });
}

const routes = (await loadRoutes()).filter(
  ({ path, guard }) => guard?.role !== "public" && (guard?.connection || path.startsWith("/api/console/connections")),
);

describe.each(Object.keys(echoes))("a service that returns the key %s", (name) => {
  test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))("%s", async (_label, route) => {
    location = name;
    const before = harness.log().length;
    const segments = route.path.split("/").slice(1);
    const isConnection = route.path.startsWith("/api/console/connections/");
    if (isConnection && route.method === "DELETE") return;
    const value = isConnection ? connection : ID;
    const folders = route.file.slice(route.file.indexOf("/api/") + 1).split("/");
    const params = Object.fromEntries(
      folders.flatMap((folder, index): [string, string | string[]][] => {
        const param = folder.match(/^\[(?:\.\.\.)?(\w+)\]$/)?.[1];
        return param === undefined ? [] : [[param, folder.startsWith("[...") ? segments.slice(index) : value]];
      }),
    );
    const response = await callRoute(route, params);
    // The content of a file belongs to its service and passes unchanged.
    const isContent = response.ok && response.headers.has("content-disposition");
    const responseText = [isContent ? "" : await response.text(), JSON.stringify([...response.headers]), harness.log().slice(before)].join(
      "\n",
    );
    expect(response.status).not.toBe(500);
    for (const word of forbidden) expect(responseText).not.toContain(word);
  });
});

test("keeps keys out of names inside an archive", async () => {
  location = "in an answer";
  const response = await harness.request(`/api/console/archive?connection=${connection}`, {
    as: "viewer",
    method: "POST",
    json: { ids: ["one"] },
  });
  const { id } = (await response.json()) as { id: string };
  const file = await harness.request(`/api/console/archive/${id}`, { as: "viewer" });
  const names = [...readZip(Buffer.from(await file.arrayBuffer())).keys()];
  expect(names).toHaveLength(1);
  expect(names.join()).not.toContain(KEY);
});

test("keeps keys out of cached service responses", async () => {
  const files = readdirSync(harness.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name));
    for (const word of forbidden) expect(bytes.includes(word), `${name} holds ${word}`).toBe(false);
  }
});
