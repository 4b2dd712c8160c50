// The console keeps the spelling of numbers, to and from a service and to a local server.
import { expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { readEnv } from "@/lib/server/env";
import { redactForApi } from "@/lib/server/responses/redact";
import { createHarness } from "@/tests/support/harness";
import { startLocalServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";

const fieldsJson = '"float":5.0,"exponent":1e3,"zero":-0,"digits":0.10,"long":18446744073709551615,"nested":{"list":[1.0,2.50]}';
const nodes = `"1":{"class_type":"EmptyImage","inputs":{"width":8,"height":8,"batch_size":1,"color":5,${fieldsJson}}},"2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"x"}}`;
const body = `{"prompt":{${nodes}},"extra_data":{"k":5.0,"extra_pnginfo":{"workflow":{${fieldsJson}}}}}`;
const harness = await createHarness();

const post = (connection: string) =>
  harness.request(`/api/prompt?connection=${connection}`, {
    as: "owner",
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });

it("keeps number spellings to and from a service", async () => {
  const { key } = await harness.console.serviceKeys().createKey("somebody");
  const connection = await harness.connect("http://embedded.invalid", key);
  const { prompt_id } = (await (await post(connection)).json()) as { prompt_id: string };
  const text = await until("the job has ended", async () => {
    const job = await (await harness.request(`/api/jobs/${prompt_id}?connection=${connection}`, { as: "owner" })).text();
    return job.includes('"status":"completed"') && job;
  });
  expect(text.split(fieldsJson)).toHaveLength(3);
  expect(text).toContain('"k":5.0');
});

it("keeps number spellings to a local server", async () => {
  const server = await startLocalServer();
  const json = { name: "Plain", baseUrl: server.url, shared: true };
  const saveResponse = await harness.request("/api/console/connections", { as: "owner", method: "POST", json });
  const { connection } = (await saveResponse.json()) as { connection: { id: string } };
  const response = await post(connection.id);
  expect(response.status).toBe(200);
  const promptBody = server.requests.find(({ method, url }) => method === "POST" && url.endsWith("/prompt"))?.body.toString() ?? "";
  expect(promptBody).toContain(`"prompt":{${nodes}}`);
  expect(promptBody).toContain(`"k":5.0,"extra_pnginfo":{"workflow":{${fieldsJson}}}`);
});

it("keeps number spellings when relative URLs become absolute", () => {
  const options = { env: readEnv({ LIGHTDESK_PUBLIC_URL: "http://desk.test" }), requestOrigin: null, connectionId: "c" };
  const exactJson = parseExactJson(`{${fieldsJson},"preview_url":"/api/view?a=1","list":[{"preview_url":"/api/view?a=2"},1.0]}`);
  const text = writeExactJson(redactForApi(exactJson, options));
  expect(text).toContain(`{${fieldsJson},"preview_url":"http://desk.test/api/view?a=1`);
  expect(text).toContain("},1.0]");
});
