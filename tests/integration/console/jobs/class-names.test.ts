// A job's details contain the display names of its classes once a catalogue was read. No catalogue is fetched for that.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const MIB = 1024 * 1024;
const KEY = "comfyui-0123456789abcdef0123456789abcdef";
const prompt = {
  "1": { class_type: "EmptyImage", inputs: {} },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0] }, _meta: { title: "Keep it" } },
  "3": { class_type: "constructor", inputs: {} },
};
let filler = "";
const harness = await createHarness();
const createCatalogue = () => ({
  EmptyImage: { display_name: "Empty Image", description: filler },
  SaveImage: { display_name: `Save Image ${KEY}` },
  Unused: { display_name: "Never seen" },
});
const server = await openTestServer(({ url }, response) => {
  if (url.startsWith("/api/object_info")) return sendJsonResponse(response, createCatalogue());
  sendJsonResponse(response, {
    id: "job-1",
    status: "completed",
    create_time: 1,
    class_names: { EmptyImage: "Of the service" },
    fill: filler,
    workflow: { prompt },
  });
});

async function readDetails(connection: string) {
  const response = await harness.request(`/api/jobs/job-1?connection=${connection}`, { as: "viewer" });
  return response.json();
}

test("omits a job's classes until a catalogue was read, and requests none", async () => {
  expect(await readDetails(await harness.connect(server.url, KEY))).not.toHaveProperty("class_names");
  expect(server.requests.filter(({ url }) => url.includes("object_info"))).toEqual([]);
});

test.each([
  ["small", ""],
  ["large", "x".repeat(2 * MIB)],
])("names a job's classes without secrets when the workflow is %s", async (_, text) => {
  filler = text;
  const connection = await harness.connect(server.url, KEY);
  const catalogue = await harness.request(`/api/object_info?connection=${connection}`, { as: "viewer" });
  expect(catalogue.status).toBe(200);
  await catalogue.arrayBuffer();
  const requestCount = server.requests.length;
  const job = await readDetails(connection);
  expect(job.class_names).toEqual({ EmptyImage: "Empty Image", SaveImage: "Save Image [REDACTED]" });
  expect(job.workflow).toEqual({ prompt });
  expect(server.requests.slice(requestCount).filter(({ url }) => url.includes("object_info"))).toEqual([]);
  expect(await readDetails(await harness.connect(server.url, KEY))).not.toHaveProperty("class_names");
});
