// Twenty-digit seeds keep their digits through the console in both directions.
import { expect, test } from "vitest";
import { connectLocalServer, connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";

const SEED = "18446744073709551615";
const LARGE_INTEGER = "9007199254740993";
const graph = `{"1":{"class_type":"EmptyImage","inputs":{"color":7,"seed":${SEED}}},"2":{"class_type":"SaveImage","inputs":{"images":["1",0]}},"3":{"class_type":"PrimitiveInt","inputs":{"value":${LARGE_INTEGER}}}}`;
const body = `{"prompt":${graph},"extra_data":{"api_key_comfy_org":"comfyui-0123456789abcdef0123","seed":${SEED}}}`;
const submission = { method: "POST", body, headers: { "content-type": "application/json" } };
const harness = await createHarness();

test("keeps exact numbers to and from an external service", async () => {
  const responses: Record<string, string> = {
    "/api/prompt": `{"prompt_id":"p1","number":1,"node_errors":{}}`,
    "/api/jobs/p1": `{"id":"p1","status":"completed","create_time":1767225600,"update_time":1767225600,"workflow":{"prompt":${graph}}}`,
    "/api/history_v2/p1": `{"p1":{"prompt":{"priority":1,"prompt_id":"p1","prompt":${graph},"extra_data":{}},"outputs":{},"status":{},"meta":{}}}`,
    "/api/queue": `{"queue_running":[[1,"p1",${graph},["2"],{}]],"queue_pending":[]}`,
    "/api/object_info": `{"KSampler":{"input":{"required":{"seed":["INT",{"default":0,"min":0,"max":${SEED}}]}}}}`,
    "/api/features": `{"max_upload_size":${SEED}}`,
    "/api/assets": `{"assets":[{"id":"a1","name":"x.bin","size":${SEED},"user_metadata":{"seed":${SEED}}}],"total":1,"has_more":false}`,
  };
  const respond: Parameters<typeof connectService>[1] = ({ url }, response) => {
    const bodyText = responses[url.split("?")[0] ?? ""];
    response.writeHead(bodyText ? 200 : 404, { "content-type": "application/json" }).end(bodyText ?? "{}");
  };
  const { server, send } = await connectService(harness, respond, { as: "operator" });
  expect((await send("/api/prompt", submission)).status).toBe(200);
  const received = server.requests.find(({ url }) => url === "/api/prompt")?.body.toString() ?? "";
  expect(received.split(`"seed":${SEED}`)).toHaveLength(3);
  expect(received).toContain(`"value":${LARGE_INTEGER}`);
  for (const [path, text] of [
    ...["/api/jobs/p1", "/api/history_v2/p1", "/api/queue"].map((path) => [path, `"seed":${SEED}`] as const),
    ["/api/object_info", `"max":${SEED}`] as const,
    ["/api/assets?include_public=false", `"user_metadata":{"seed":${SEED}}`] as const,
  ])
    expect(await (await send(path)).text(), path).toContain(text);
  expect((await send("/api/features")).status).toBe(200);
});

test("keeps exact numbers on a local server", async () => {
  const server = await openTestServer(({ url, method }, response) => {
    const path = url.split("?")[0];
    const sendText = (text: string, status = 200) => void response.writeHead(status, { "content-type": "application/json" }).end(text);
    if (path === "/api/system_stats") return sendText('{"system":{"os":"linux"},"devices":[]}');
    if (path === "/api/prompt" && method === "POST") return sendText('{"prompt_id":"p1","number":0,"node_errors":{}}');
    if (path === "/api/queue") return sendText(`{"queue_running":[[0,"p1",${graph},{},["2"]]],"queue_pending":[]}`);
    if (path === "/api/history/p1") return sendText(`{"p1":{"prompt":[0,"p1",${graph},{},["2"]],"outputs":{},"status":{}}}`);
    return sendText('{"error":"not here"}', 404);
  });
  const { send } = await connectLocalServer(harness, server.url, "operator");
  await send("/api/prompt", submission);
  const received = server.requests.find(({ url, method }) => url === "/api/prompt" && method === "POST");
  expect(received?.body.toString()).toContain(`"seed":${SEED}`);
  for (const path of ["/api/queue", "/api/history_v2/p1"]) expect(await (await send(path)).text(), path).toContain(`"seed":${SEED}`);
});
