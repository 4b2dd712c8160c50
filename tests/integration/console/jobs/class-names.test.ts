// A job's details contain the display names of its classes once a catalogue was read. No catalogue is fetched for that.
import { expect, test } from "vitest";
import { readNodeInfos } from "@/lib/server/responses/node-classes";
import { API_KEY, connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";

const prompt = {
  "1": { class_type: "EmptyImage", inputs: {} },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0] }, _meta: { title: "Keep it" } },
  "3": { class_type: "constructor", inputs: {} },
};
let nowMs = 1_800_000_000_000;
const harness = await createHarness({ now: () => nowMs });

test.each([
  ["small", ""],
  ["large", "x".repeat(2 * 1024 * 1024)],
])("names a job's classes without secrets when the workflow is %s", async (_, filler) => {
  const { server, send, getJson } = await connectService(harness, ({ url }, response) => {
    const catalogue = {
      EmptyImage: { display_name: "Empty Image", description: filler },
      SaveImage: { display_name: `Save Image ${API_KEY}` },
      Unused: { display_name: "Never seen" },
    };
    const class_names = { EmptyImage: "Of the service" };
    const job = { id: "job-1", status: "completed", create_time: 1, class_names, fill: filler, workflow: { prompt } };
    sendJsonResponse(response, url.startsWith("/api/object_info") ? catalogue : job);
  });
  const countCatalogueReads = () => server.requests.filter(({ url }) => url.includes("object_info")).length;
  expect(await getJson("/api/jobs/job-1")).not.toHaveProperty("class_names");
  expect(countCatalogueReads()).toBe(0);
  const catalogue = await send("/api/object_info");
  expect(catalogue.status).toBe(200);
  await catalogue.arrayBuffer();
  const job = await getJson("/api/jobs/job-1");
  expect(job.class_names).toEqual({ EmptyImage: "Empty Image", SaveImage: "Save Image [REDACTED]" });
  expect(job.workflow).toEqual({ prompt });
  expect(countCatalogueReads()).toBe(1);
});

test("doesn't report existing classes of a large catalogue as missing", async () => {
  const classes = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`Node${index}`, { description: "d".repeat(300) }]));
  const { getJson } = await connectService(harness, (_, response) => sendJsonResponse(response, classes));
  expect(await getJson("/api/console/lacking-classes?names=Node5999,Node6000")).toEqual({ lacking: ["Node6000"] });
});

test("returns classes that expire from the cache during a read", async () => {
  const { server, connection } = await connectService(harness, ({ url }, response) => {
    const name = url.split("/").at(-1) ?? "";
    if (name === "Second") nowMs += 60_000;
    sendJsonResponse(response, { [name]: { display_name: name } });
  });
  const target = { connectionId: connection, baseUrl: server.url, dialect: "interface", apiKey: API_KEY } as const;
  const source = { composition: harness.console, connection: { id: connection, baseUrl: server.url }, apiKey: API_KEY };
  const read = (...names: string[]) => readNodeInfos({ ...source, upstream: harness.console.getUpstream(target) }, names);
  expect(await read("First")).toHaveProperty("First");
  expect(Object.keys((await read("First", "Second")) ?? {})).toEqual(["First", "Second"]);
});
