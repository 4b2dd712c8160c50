// Error responses with unknown or ambiguous codes. The console falls back to the HTTP status.
import { describe, expect, test } from "vitest";
import { connectService, createJobPage } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness({ upstreamLimits: { attempts: 1 } });

type Responder = Parameters<typeof connectService>[1];
const connect = (respond: Responder) => connectService(harness, respond, { as: "admin" });
const connectFailing = (status: number, body: object) => connect((_, response) => sendJsonResponse(response, body, status));
const readResult = async (response: Response) => [response.status, (await response.json()).code];
const prompt = { "1": { class_type: "A", inputs: {} } };

test.each([
  [503, { code: "WORKERS_BUSY", message: "no" }, 503, "WORKERS_BUSY"],
  [504, {}, 504, "UPSTREAM_TIMEOUT"],
  [404, { code: "NOT_FOUND", message: "no route" }, 502, "UPSTREAM_NOT_FOUND"],
  [401, { code: "UNAUTHORIZED", message: "no" }, 502, "UPSTREAM_REFUSED_KEY"],
  [503, { code: "INTERNAL", message: "a console code" }, 503, "SERVICE_UNAVAILABLE"],
  [403, { code: "ROLE_TOO_LOW", message: "a console code" }, 403, "FORBIDDEN"],
])("maps %i %j of a list to %i %s", async (status, body, expectedStatus, code) => {
  const { send } = await connectFailing(status, body);
  expect(await readResult(await send("/api/jobs"))).toEqual([expectedStatus, code]);
});

function createForm(part: string): FormData {
  const form = new FormData();
  form.set(part, new File(["x"], "a.png", { type: "image/png" }));
  form.set("tags", "input");
  return form;
}
test.each<[string, object]>([
  ["/api/prompt", { json: { prompt } }],
  ["/api/queue", { json: { clear: true } }],
  ["/api/history", { json: { clear: true } }],
  ["/api/assets/download", { json: { source_url: "https://huggingface.co/a" } }],
  ["/api/upload/image", { body: createForm("image") }],
  ["/api/assets", { body: createForm("file") }],
])("reports UPSTREAM_NOT_FOUND for a 404 of %s", async (path, content) => {
  const { send } = await connectFailing(404, { code: "NOT_FOUND", message: "no route" });
  expect(await readResult(await send(path, { method: "POST", ...content }))).toEqual([502, "UPSTREAM_NOT_FOUND"]);
});

test("reports BAD_REQUEST for an invalid body", async () => {
  const { post } = await connectFailing(400, { code: "INVALID_QUERY", message: "prompt: no" });
  expect(await (await post("/api/prompt", { prompt })).json()).toMatchObject({ code: "BAD_REQUEST", message: "prompt: no" });
});

test("prefers clear over delete, drops no-ops and accepts an empty response", async () => {
  const bodies: unknown[] = [];
  const { post } = await connect(({ method, url, body }, response) => {
    if (method === "POST") bodies.push(JSON.parse(body.toString()));
    if (url.startsWith("/api/queue")) return void response.writeHead(204).end();
    sendJsonResponse(response, { prompt_id: "p" });
  });
  expect((await post("/api/queue", { clear: true, delete: ["a"] })).status).toBe(200);
  await post("/api/history", { clear: true, delete: ["a"] });
  await post("/api/prompt", { prompt: {}, number: 3, front: true, extra_data: {} });
  expect(bodies).toEqual([{ clear: true }, { clear: true }, { prompt: {}, extra_data: {} }]);
});

test("treats a 404 as an empty folder only while other requests succeed", async () => {
  let isFailing = false;
  const { send } = await connect(({ url }, response) => {
    if (!isFailing && url.startsWith("/api/jobs")) sendJsonResponse(response, createJobPage([]));
    else sendJsonResponse(response, {}, 404);
  });
  const list = () => send("/api/userdata?dir=workflows%2F");
  expect(await (await list()).json()).toEqual([]);
  isFailing = true;
  expect(await readResult(await list())).toEqual([502, "UPSTREAM_NOT_FOUND"]);
});

const createJob = (status: string) => ({ id: "job-1", status, create_time: 1_767_225_600_000, update_time: 1_767_225_600_000 });

test("shows a job in an unknown state in the queue", async () => {
  const { getJson } = await connect((_, response) => sendJsonResponse(response, createJobPage([createJob("dreaming")])));
  expect(await getJson("/api/console/queue")).toMatchObject({ running: [{ id: "job-1", status: "dreaming" }] });
});

const asset = { id: "5f0c7a5e-0000-4000-8000-000000000001", name: "a.png", tags: ["input"] };

describe.each([
  { label: "a job", list: "/api/jobs", item: createJob("in_progress"), none: createJobPage([]) },
  { label: "an asset", list: "/api/assets", item: asset, none: { assets: [], total: 0, has_more: false } },
])("$label", ({ list, item, none }) => {
  const path = `${list}/${item.id}`;
  test("retries one 404 before reporting it", async () => {
    let misses = 1;
    const { send } = await connect((_, response) => sendJsonResponse(response, item, misses-- > 0 ? 404 : 200));
    expect((await send(path)).status).toBe(200);
  });

  test("reports NOT_FOUND only while the list succeeds", async () => {
    let isUnavailable = false;
    const { getJson } = await connect(({ url }, response) => {
      if (!isUnavailable && url.startsWith(`${list}?`)) sendJsonResponse(response, none);
      else sendJsonResponse(response, { code: "NOT_FOUND", message: "no" }, 404);
    });
    expect(await getJson(path)).toMatchObject({ code: "NOT_FOUND" });
    isUnavailable = true;
    expect(await getJson(path)).toMatchObject({ code: "UPSTREAM_NOT_FOUND" });
  });
});

test("truncates a history that exceeds the limit", async () => {
  const history = Array.from({ length: 500 }, (_, index) => ({ prompt_id: `job-${index}` }));
  const { getJson } = await connect((_, response) => sendJsonResponse(response, { history }));
  const body = await getJson("/api/history_v2?max_items=20");
  expect(body.history.map(({ prompt_id }: { prompt_id: string }) => ({ prompt_id }))).toEqual(history.slice(0, 20));
});

test("accepts known content only with the offered hash", async () => {
  const offeredHash = `blake3:${"a".repeat(64)}`;
  let hash: string | undefined = offeredHash;
  const { post } = await connect((_, response) => sendJsonResponse(response, { ...asset, asset_hash: hash }, 201));
  const offerContent = async () => (await post("/api/console/known-content", { hash: offeredHash, tags: ["input"] })).json();
  expect(await offerContent()).toMatchObject({ asset: { name: "a.png" } });
  for (hash of [undefined, `blake3:${"b".repeat(64)}`]) expect(await offerContent()).toEqual({ asset: null, isUnclear: true });
});

test("keeps capabilities after a short outage with 404 responses", async () => {
  let isUnavailable = true;
  const { send } = await connect(({ url }, response) => {
    if (isUnavailable) sendJsonResponse(response, {}, 404);
    else sendJsonResponse(response, url.startsWith("/api/jobs") ? createJobPage([]) : { tags: [], total: 0, has_more: false });
  });
  expect((await send("/api/tags")).status).not.toBe(200);
  await send("/api/jobs");
  isUnavailable = false;
  await send("/api/jobs");
  expect((await send("/api/tags")).status).toBe(200);
});
