// Health, metrics and traces of the stand-alone service. One process serves all tests.
import { afterAll, expect, test } from "vitest";
import { waitForEnd } from "@/tests/integration/service/support";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { startSpanReceiver } from "@/tests/support/otlp";
import { readScrape } from "@/tests/support/prometheus";
import { startRunnerServer } from "@/tests/support/servers";
import { createHttpClient, createKey, runServiceCommand, startServiceProcess } from "@/tests/support/service-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

const TOKEN = "metrics-token-of-a-test";
const withToken = { headers: { authorization: `Bearer ${TOKEN}` } };
const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "secret-prompt" } },
};
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentSpanId = "00f067aa0ba902b7";

const dataDir = createTemporaryFolder();
const key = await createKey(dataDir, "ada");
const runner = await startRunnerServer({ objectInfo: createGpuClasses(["one.safetensors"]) });
await runServiceCommand(dataDir, "runners", "add", runner.address, "--label", "A40");
const receiver = await startSpanReceiver();
const service = await startServiceProcess(dataDir, { LIGHTDESK_METRICS_TOKEN: TOKEN, ...receiver.settings });
const client = createHttpClient(service.url, key);
const submitResponse = await client.call("POST", "/api/prompt", { prompt: graph }, { traceparent: `00-${traceId}-${parentSpanId}-01` });
const jobId = (submitResponse.body as { prompt_id: string }).prompt_id;
await waitForEnd(client, jobId);
await client.get("/api/jobs/nobody-has-this-one?token=in-the-address");
await client.get("/nowhere/at/all");
afterAll(() => service.stop());

test("reports health and gives details only for the metrics token", async () => {
  const live = await fetch(`${service.url}/api/health/live`);
  expect([live.status, await live.json()]).toEqual([200, { status: "alive" }]);
  const ready = await fetch(`${service.url}/api/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
  const parts = ["database", "disk", "workers"].map((part) => ({ part, ready: true }));
  expect(await (await fetch(`${service.url}/api/health/ready`, withToken)).json()).toEqual({ status: "ready", parts });
  expect((await fetch(`${service.url}/api/health/ready`, { method: "POST" })).status).toBe(405);
});

test("requires the token for metrics and reports types and bounded labels", async () => {
  for (const authorization of ["", "Bearer", "Bearer another-token-entirely", `Basic ${TOKEN}`])
    expect((await fetch(`${service.url}/api/metrics`, { headers: { authorization } })).status, authorization).toBe(401);
  const response = await fetch(`${service.url}/api/metrics`, withToken);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const { series, types } = readScrape(text);
  const getValue = (name: string, labels: object = {}) =>
    series.find((series) => series.name === name && JSON.stringify(series.labels) === JSON.stringify(labels))?.value;

  expect(getValue("lightdesk_http_requests_total", { method: "POST", route: "/api/prompt", status: "200" })).toBe(1);
  expect(getValue("lightdesk_http_requests_total", { method: "GET", route: "/api/jobs/{job_id}", status: "404" })).toBe(1);
  expect(getValue("lightdesk_http_requests_total", { method: "GET", route: "other", status: "404" })).toBe(1);
  expect(getValue("lightdesk_jobs", { state: "pending" })).toBe(0);
  expect(getValue("lightdesk_jobs", { state: "in_progress" })).toBe(0);
  expect(getValue("lightdesk_jobs", { state: "completed" })).toBe(1);
  // The built-in runner and the responsive one.
  expect(getValue("lightdesk_runners", { state: "ready" })).toBe(2);
  for (const state of ["draining", "paused", "set_aside", "unreachable", "checking"])
    expect(getValue("lightdesk_runners", { state }), state).toBe(0);
  expect(getValue("lightdesk_job_runs_total", { outcome: "success" })).toBe(1);
  expect(getValue("lightdesk_job_run_duration_seconds_count")).toBe(1);
  expect(getValue("lightdesk_job_run_duration_seconds_sum")).toBeGreaterThan(0);
  expect(getValue("lightdesk_stored_bytes")).toBeGreaterThan(0);
  expect(getValue("lightdesk_disk_free_bytes")).toBeGreaterThan(0);
  expect(getValue("lightdesk_ready", { part: "workers" })).toBe(1);
  expect(types.get("nodejs_eventloop_lag_seconds")).toBe("gauge");
  expect(getValue("process_resident_memory_bytes")).toBeGreaterThan(0);
  const secrets = [key, jobId, dataDir, "ada", "A40", "nobody-has-this-one", "nowhere", "in-the-address", "secret-prompt", "127.0.0.1"];
  for (const secret of secrets) expect(text, secret).not.toContain(secret);
});

test("traces a request and its job under the caller's span, without secrets", async () => {
  const spans = await until("the run's span arrives", () => {
    const spans = receiver.getSpans();
    return spans.some(({ name }) => name === "run job") && spans;
  });
  const request = spans.find(({ name }) => name === "POST /api/prompt");
  expect(request).toMatchObject({ traceId, parentSpanId, attributes: { "http.route": "/api/prompt" } });
  const run = spans.find(({ name }) => name === "run job");
  expect(run).toMatchObject({
    traceId,
    parentSpanId: request?.spanId,
    attributes: { "job.id": jobId, "job.attempt": 1, outcome: "success" },
  });
  for (const secret of [key, "secret-prompt", "in-the-address", "nowhere", service.url])
    expect(receiver.getTexts().join("\n"), secret).not.toContain(secret);
});
