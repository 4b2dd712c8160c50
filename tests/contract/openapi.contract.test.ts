// Compares the OpenAPI document with the contract and with recorded responses.
import { describe, expect, it } from "vitest";
import { isObject } from "@/lib/contract/json/json";
import { createOpenApiDocument } from "@/lib/contract/openapi/document";
import { allOperations } from "@/lib/contract/operations";
import { asRecord, asString, createColorGraph, createPng, createWaitGraph, submitGraph, waitForEnd } from "../integration/service/support";
import { openTestServer } from "../support/servers";
import { createClient, startService } from "../support/service";
import { createResolver, type Exchange, findOperation, findUndescribed } from "./find-undescribed";
import { runSuite } from "./suite/run-suite";

const documentedNames = allOperations.flatMap(({ name, summary }) => (summary === undefined ? [] : [name]));

function* listObjects(value: unknown): Generator<Record<string, unknown>> {
  if (Array.isArray(value)) for (const item of value) yield* listObjects(item);
  if (!isObject(value)) return;
  yield value;
  for (const sample of Object.values(value)) yield* listObjects(sample);
}

const document = createOpenApiDocument("http://service.test");
const listOperations = () =>
  Object.entries(asRecord(document.paths)).flatMap(([path, item]) =>
    Object.entries(asRecord(item)).map(([method, operation]) => ({ path, method, ...asRecord(operation) })),
  );

describe("the OpenAPI document", () => {
  it("names the API and the service's URL", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      servers: [{ url: "http://service.test" }],
      security: [{ ApiKey: [] }, { Bearer: [] }],
    });
    expect(document).toMatchObject({ components: { securitySchemes: { ApiKey: { type: "apiKey", in: "header", name: "X-API-Key" } } } });
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it("describes every operation of the service exactly once", () => {
    const ids = listOperations().map((operation) => String(asRecord(operation).operationId));
    expect(ids.sort()).toEqual([...documentedNames, "getHealth", "getOpenApi"].sort());
    for (const { name, method, path } of allOperations.filter((operation) => documentedNames.includes(operation.name)))
      expect(findOperation(document, method, path)?.id, `${method} ${path}`).toBe(name);
  });

  it("has no dangling reference and no unused component", () => {
    const refs = new Set([...listObjects(document)].flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : [])));
    for (const ref of refs) expect(createResolver(document)(ref)).toBeTypeOf("object");
    const components = Object.keys(asRecord(asRecord(document.components).schemas));
    expect(components.filter((name) => !refs.has(`#/components/schemas/${name}`))).toEqual([]);
  });

  it("declares each path parameter once and each query parameter with its default", () => {
    for (const { path, parameters = [] } of listOperations().map((item) => ({ parameters: [], ...item }))) {
      const declaredParameters = (Array.isArray(parameters) ? parameters : []).map(asRecord);
      const pathParameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(declaredParameters.filter((json) => json.in === "path" && json.required === true).map((json) => json.name)).toEqual(
        pathParameters,
      );
      expect(new Set(declaredParameters.map((json) => `${String(json.in)} ${String(json.name)}`)).size).toBe(declaredParameters.length);
    }
    const jobs = asRecord(findOperation(document, "GET", "/api/jobs")?.operation).parameters;
    expect(jobs).toEqual(
      expect.arrayContaining([
        { name: "limit", in: "query", required: false, schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 } },
        { name: "offset", in: "query", required: false, schema: { type: "integer", minimum: 0, default: 0 } },
        expect.objectContaining({ name: "status", style: "form", explode: false, schema: expect.objectContaining({ type: "array" }) }),
      ]),
    );
    const assets = asRecord(findOperation(document, "GET", "/api/assets")?.operation).parameters;
    expect(assets).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: "include_public", schema: { type: "boolean", default: true } })]),
    );
  });

  it("gives every operation a summary, a success status and 401 if it needs a key", () => {
    for (const operation of listOperations()) {
      const { operationId, summary, responses, security } = asRecord(operation);
      const statuses = Object.keys(asRecord(responses));
      expect([operationId, typeof summary, statuses.some((status) => status.startsWith("2"))]).toEqual([operationId, "string", true]);
      if (security === undefined) expect(statuses, String(operationId)).toContain("401");
    }
  });
});

describe("the OpenAPI document and the service's responses", async () => {
  const exchanges: Exchange[] = [];

  /** Records every exchange. */
  const send = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const response = await service.service.fetch(request);
    const text = await response.clone().text();
    const contentType = response.headers.get("content-type") ?? "";
    exchanges.push({ method: request.method, path: pathname, status: response.status, contentType, text });
    return response;
  };

  const source = await openTestServer(({ url }, response) =>
    url === "/slow.txt" ? void response.write("some") : response.end("from afar"),
  );
  const sourceUrl = `${source.url}/afar.txt`;
  const service = await startService({ downloadHosts: [source.url], userQuotaBytes: 100_000_000, maxJsonBytes: 100_000 });

  it("serves the contract's document without a key", async () => {
    const response = await service.anonymous().get("/api/openapi.json");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(response.body).toEqual(document);
  });

  it("passes the conformance suite without differences", async () => {
    const { key } = await service.service.keys.createKey("ada");
    const options = { write: true, interrupt: true, sourceUrl, waitMs: 30_000 };
    const rows = await runSuite({ baseUrl: "http://service.test", key, send, timeoutMs: 30_000 }, options);
    const failures = rows.filter(({ outcome }) => outcome !== "ok").map(({ operation, outcome, notes }) => [operation, outcome, ...notes]);
    expect(failures).toEqual([["GET /api/tasks", "absent", "answered 404"]]);
  });

  it("records refusals and jobs that run and fail", async () => {
    const ada = createClient(send, (await service.service.keys.createKey("ada")).key);
    const failingGraph = {
      "1": { class_type: "Fail", inputs: { message: "on purpose", anything: ["2", 0] } },
      "2": { class_type: "PrimitiveInt", inputs: { value: 1 } },
      "3": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
    };
    const ids = [
      await submitGraph(ada, createWaitGraph(0.5)),
      await submitGraph(ada, failingGraph),
      await submitGraph(ada, createColorGraph(3)),
      await submitGraph(ada, createWaitGraph(0.4, 2)),
    ];
    await ada.get("/api/jobs");
    await ada.get("/api/queue");
    for (const id of ids) await waitForEnd(ada, id);
    for (const id of ids)
      for (const path of [`/api/jobs/${id}`, `/api/job/${id}/status`, `/api/history_v2/${id}`, `/api/jobs/${id}/assets`])
        await ada.get(path);
    for (const path of ["/api/jobs", "/api/history_v2?max_items=10", "/api/assets", "/api/tags", "/api/assets/tags/refine"])
      await ada.get(path);

    const bundledAssets = asRecord((await ada.get("/api/assets?include_tags=input&limit=1")).body).assets;
    const publicId = asString(asRecord(Array.isArray(bundledAssets) ? bundledAssets[0] : {}).id);
    const unknownId = "6f0d4f7e-13b2-4a1f-9d5c-0c4f1f8a7a99";
    const calls: [string, string, unknown?][] = [
      ["GET", "/api/jobs?limit=0"],
      ["GET", "/api/jobs?limit=1&limit=2"],
      ["GET", `/api/jobs/${unknownId}`],
      ["POST", "/api/prompt", { prompt: { "1": { class_type: "SaveImage", inputs: {} } } }],
      ["POST", "/api/prompt", {}],
      ["POST", "/api/prompt", { prompt: createColorGraph(1), note: "x".repeat(100_000) }],
      ["POST", "/api/queue", { unknownField: 1 }],
      ["POST", "/api/history", "no JSON"],
      ["POST", "/api/interrupt", { prompt_id: unknownId }],
      ["POST", "/api/jobs/cancel", { job_ids: [unknownId] }],
      ["POST", `/api/jobs/${unknownId}/cancel`],
      ["POST", "/api/assets", "no form"],
      ["POST", "/api/assets/from-hash", { hash: `blake3:${"0".repeat(64)}`, tags: ["a"] }],
      ["POST", "/api/assets/download", { source_url: "https://example.com/a" }],
      ["POST", "/api/assets/download", { source_url: sourceUrl, preview_id: unknownId }],
      ["GET", "/api/assets/remote-metadata?url=https%3A%2F%2Fexample.com%2Fa"],
      ["GET", "/api/assets?metadata_filter=1"],
      ["PUT", `/api/assets/${publicId}`, { name: "mine" }],
      ["DELETE", `/api/assets/${publicId}`],
      ["POST", `/api/assets/${publicId}/tags`, { tags: ["a"] }],
      ["DELETE", `/api/assets/${publicId}/tags`, { tags: ["a"] }],
      ["GET", `/api/assets/${unknownId}/content`],
      ["GET", `/api/assets/${publicId}/content`],
      ["HEAD", "/api/assets/hash/none"],
      ["GET", "/api/tasks/none"],
      ["DELETE", "/api/tasks/none"],
      ["GET", "/api/view"],
      ["GET", "/api/view?filename=none.png"],
      ["GET", "/api/files/mask-layers?filename=none.png"],
      ["GET", "/api/userdata"],
      ["GET", "/api/userdata?dir=none%2F"],
      ["GET", "/api/userdata?dir=..%2F"],
      ["GET", "/api/userdata/none.json"],
      ["POST", "/api/userdata/..%2Fout.json", "x"],
      ["POST", "/api/userdata/a%2F%2Fb.json", "x"],
      ["DELETE", "/api/userdata/none.json"],
      ["POST", "/api/userdata/none.json/move/there.json"],
      ["GET", "/api/nothing"],
      ["PATCH", "/api/jobs"],
    ];
    const statuses = new Set<number>();
    for (const [method, path, body] of calls) statuses.add((await ada.call(method, path, body)).status);
    const slow = await ada.post("/api/assets/download", { source_url: sourceUrl.replace("afar", "slow") });
    await ada.call("DELETE", `/api/tasks/${asString(asRecord(slow.body).task_id)}`);
    await ada.upload(createPng(4, 4), "a.png", {}, "other");
    await ada.upload("no picture", "a.png", {}, "image", "/api/upload/image");
    await ada.upload(createPng(4, 4), "a.png", { original_ref: "none" }, "image", "/api/upload/mask");
    await ada.get(`/api/assets/${publicId}/content`, { range: "bytes=0-3" });
    await ada.get(`/api/assets/${publicId}/content`, { range: "bytes=99999999-" });
    await ada.call("POST", "/api/userdata/ranges.json", "{}");
    await ada.get("/api/userdata/ranges.json", { range: "bytes=0-0" });
    await ada.get("/api/userdata/ranges.json", { range: "bytes=9-" });
    await ada.get("/api/userdata/ranges.json", { "if-match": '"other"' });
    await createClient(send, undefined).get("/api/jobs");
    expect([...statuses].sort()).toEqual([200, 400, 403, 404, 405, 413, 415]);
  });

  it("describes every recorded response and covers every operation", () => {
    expect(exchanges.flatMap((exchange) => findUndescribed(document, exchange))).toEqual([]);
    const testedNames = new Set(
      exchanges.flatMap(({ method, path, status }) => (status < 400 ? (findOperation(document, method, path)?.id ?? []) : [])),
    );
    expect(documentedNames.filter((name) => !testedNames.has(name))).toEqual([]);
  });
});
