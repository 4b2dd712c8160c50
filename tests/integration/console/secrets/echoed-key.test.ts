// A service may echo the API key anywhere in its responses. Users of a shared connection must never see it.
// Every route is tested.
import { readdirSync, readFileSync } from "node:fs";
import { type ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { readZip } from "@/tests/support/read-zip";
import { loadRoutes } from "@/tests/support/routes";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { callRoute, createBody, getLabel, ID } from "../route-requests";

const KEY = "team-key-9f3b6c1d2e4a";
const echoedText = `the key ${KEY} again`;
/** Matches every response schema, so that no response is rejected for its shape. */
function buildResponse(text: string) {
  const graph = { prompt: {}, extra_data: { [text]: text, extra_pnginfo: { workflow: { id: text, name: text } } } };
  const job = { id: text, status: text, create_time: text, workflow_id: text, workflow: graph };
  const asset = { id: text, name: text, size: 1, created_at: text, updated_at: text, tags: [text], mime_type: text, asset_hash: text };
  return {
    ...asset,
    ...job,
    ...{ execution_error: { exception_message: text, [text]: text }, display_name: text, mask: text },
    jobs: [job],
    pagination: { total: 1 },
    history: [{ prompt_id: text, create_time: 1, prompt: { prompt_id: text, extra_data: graph.extra_data } }],
    assets: [asset],
    total: 1,
    has_more: false,
    ...{ deleted: [text], cleared: true, code: text, message: text, prompt_id: text, task_id: text, error_message: text },
    ...{ total_tags: [text], added: [text], removed: [text], node_errors: { [text]: text }, cancelled: [text] },
    ...{ queue_running: [], queue_pending: [] },
    ...{ subfolder: text, type: text, path: text, modified: text, metadata: { [text]: text }, result: { error: text, filename: text } },
  };
}
const TRUNCATED_KEY = KEY.slice(0, 12);
const percentEncodedKey = [...Buffer.from(KEY)].map((byte) => `%${byte.toString(16)}`).join("");
const escapeLetters = (letters: string, prefix: string) =>
  [...letters].map((letter) => `${prefix}u00${letter.charCodeAt(0).toString(16)}`).join("");
/** Must not appear in any response, log line or stored data. */
const forbiddenTexts = [KEY, TRUNCATED_KEY, percentEncodedKey, "9f3b6c1d2e4a"];
const sendRawJson = (response: ServerResponse, text: string, status = 200) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(text);

const quotedKey = `"${KEY}"`;
const responders: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "in a response": (response) => sendJsonResponse(response, buildResponse(echoedText)),
  "cut off": (response) => sendJsonResponse(response, buildResponse(`the key ${TRUNCATED_KEY}`)),
  "cut off before an ellipsis": (response) =>
    sendJsonResponse(response, buildResponse(`the key ${TRUNCATED_KEY}… is yours, ${TRUNCATED_KEY}... is`)),
  "with every letter escaped": (response) =>
    sendRawJson(response, JSON.stringify(buildResponse(echoedText)).replaceAll(KEY, escapeLetters(KEY, "\\"))),
  "in JSON inside a string": (response) =>
    sendJsonResponse(response, buildResponse(`{"key":"${KEY}","cut":"${TRUNCATED_KEY}","letters":"${escapeLetters(KEY, "\\")}"}`)),
  "percent-encoded": (response) =>
    sendJsonResponse(response, buildResponse(`https://example.com/?a=${percentEncodedKey}&b=${percentEncodedKey.toUpperCase()}`)),
  "where an error message is truncated": (response) =>
    sendJsonResponse(response, { code: "BAD", message: `${"x".repeat(487)}${KEY}` }, 400),
  "escaped in an error": (response) => sendRawJson(response, `{"message":"the key ${escapeLetters(KEY, "\\")}"}`, 400),
  "escaped in an error of two JSON documents": (response) =>
    sendRawJson(response, `{"message":"bad"}\n{"key":"C:\\\\${KEY.replaceAll("-", "\\u002d")}"}`, 400),
  "escaped in JSON with NaN": (response) =>
    sendRawJson(
      response,
      JSON.stringify({ ...buildResponse(echoedText), size: 0.5 })
        .replaceAll(KEY, escapeLetters(KEY, "\\"))
        .replaceAll("0.5", "NaN"),
    ),
  "in a list": (response) => sendJsonResponse(response, [{ path: echoedText, size: 1, modified: echoedText }]),
  "in an error": (response) =>
    sendJsonResponse(response, { code: echoedText, message: echoedText, details: { [echoedText]: echoedText } }, 400),
  "in a 403 error": (response) => sendJsonResponse(response, { message: echoedText }, 403),
  "in a 500 error": (response) => sendJsonResponse(response, { error: echoedText, message: echoedText }, 500),
  "in plain text": (response) => void response.writeHead(422, { "content-type": "text/plain" }).end(echoedText),
  "in a 401 error": (response) => sendJsonResponse(response, { message: echoedText, code: KEY }, 401),
  "in a created task": (response) => sendJsonResponse(response, { task_id: KEY, status: KEY, message: echoedText }, 202),
  "in a redirect": (response) => void response.writeHead(302, { location: `https://203.0.113.1/${KEY}?key=${KEY}`, etag: quotedKey }).end(),
  "in the headers of a file": (response) =>
    void response
      .writeHead(200, {
        "content-type": `image/${KEY}`,
        "content-disposition": `inline; filename=${quotedKey}`,
        etag: quotedKey,
        "last-modified": KEY,
        "accept-ranges": KEY,
        "retry-after": KEY,
        "x-request-id": KEY,
        "set-cookie": `a=${KEY}`,
      })
      .end("bytes"),
  "in a 416 error": (response) => void response.writeHead(416, { "content-range": `bytes */${KEY}`, etag: quotedKey }).end(echoedText),
  "in the status text": (response) => void response.writeHead(418, echoedText).end(),
};
let echoLocation = "in a response";

const harness = await createHarness({ settings: { LIGHTDESK_LOG_LEVEL: "trace" }, upstreamLimits: { firstRetryMs: 1, maxWaitMs: 1 } });
const service = await openTestServer((_, response) => responders[echoLocation]?.(response));
const connection = await harness.connect(service.url, KEY);

const bodies = {
  createOfKnownContent: { hash: "blake3:aa", tags: ["a"] },
  createConnection: { name: "x", baseUrl: service.url, key: KEY },
};
const headers = { cookie: harness.getCookie("owner"), range: "bytes=0-1" };
const query = `?connection=${connection}&filename=a&asset=${ID}&url=https%3A%2F%2Fhuggingface.co%2Fa&dir=a%2F`;
const isConnectionRoute = (path: string) => path.startsWith("/api/console/connections/");
const routes = (await loadRoutes()).filter(
  ({ path, method, guard }) =>
    guard?.role !== "public" &&
    (guard?.needsConnection || path.startsWith("/api/console/connections")) &&
    !(method === "DELETE" && isConnectionRoute(path)),
);

test.each(Object.keys(responders))("hides the key on every route when a service returns it %s", async (name) => {
  echoLocation = name;
  for (const route of routes) {
    const before = harness.getLog().length;
    const id = isConnectionRoute(route.path) ? connection : ID;
    const response = await callRoute(route, { headers, query, body: createBody(route, bodies), id });
    // File content is forwarded unchanged.
    const isContent = response.ok && response.headers.has("content-disposition");
    const responseText = [
      isContent ? "" : await response.text(),
      JSON.stringify([...response.headers]),
      harness.getLog().slice(before),
    ].join("\n");
    const leaks = forbiddenTexts.filter((text) => responseText.includes(text));
    expect([getLabel(route), response.status === 500, leaks]).toEqual([getLabel(route), false, []]);
  }
});

test("redacts keys in the file names of an archive", async () => {
  echoLocation = "in a response";
  const selection = { as: "viewer", method: "POST", json: { ids: ["one"] } } as const;
  const { id } = await (await harness.request(`/api/console/archive?connection=${connection}`, selection)).json();
  const file = await harness.request(`/api/console/archive/${id}`, { as: "viewer" });
  const names = [...readZip(Buffer.from(await file.arrayBuffer())).keys()];
  expect(names).toHaveLength(1);
  expect(names.join()).not.toContain(KEY);
});

test("stores no key in cached service responses", async () => {
  const files = readdirSync(harness.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name));
    for (const text of forbiddenTexts) expect(bytes.includes(text), `${name} contains ${text}`).toBe(false);
  }
});
