// A job's details contain the catalogue's names for the classes of its workflow once a catalogue was read; none is fetched for that.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

const MIB = 1024 * 1024;
const KEY = "comfyui-0123456789abcdef0123456789abcdef";
const prompt = {
  "1": { class_type: "EmptyImage", inputs: {} },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0] }, _meta: { title: "Keep it" } },
  "3": { class_type: "constructor", inputs: {} },
};
let harness: Harness;
let server: LittleServer;
let fill = "";
beforeAll(async () => {
  harness = await createHarness();
  const names = () => ({
    EmptyImage: { display_name: "Empty Image", description: fill },
    SaveImage: { display_name: `Save Image ${KEY}` },
    Unused: { display_name: "Never seen" },
  });
  server = await startLittleServer(({ url }, response) => {
    if (url.startsWith("/api/object_info")) return answerJson(response, names());
    answerJson(response, {
      id: "job-1",
      status: "completed",
      create_time: 1,
      class_names: { EmptyImage: "Of the service" },
      fill,
      workflow: { prompt },
    });
  });
});
afterAll(async () => {
  await server.close();
  await harness.dispose();
});

async function details(connection: string) {
  const answer = await harness.request(`/api/jobs/job-1?connection=${connection}`, { as: "viewer" });
  return answer.json();
}

test("until a catalogue was read a job says nothing of its classes, and none is asked for", async () => {
  expect(await details(await harness.connect(server.url, KEY))).not.toHaveProperty("class_names");
  expect(server.seen.filter(({ url }) => url.includes("object_info"))).toEqual([]);
});

test.each([
  ["small", ""],
  ["so large that it is read elsewhere", "x".repeat(2 * MIB)],
])("afterwards it names those that it uses, without secrets, and its workflow is as it was: where it is %s", async (_, filled) => {
  fill = filled;
  const connection = await harness.connect(server.url, KEY);
  const catalogue = await harness.request(`/api/object_info?connection=${connection}`, { as: "viewer" });
  expect(catalogue.status).toBe(200);
  await catalogue.arrayBuffer();
  const asked = server.seen.length;
  const job = await details(connection);
  expect(job.class_names).toEqual({ EmptyImage: "Empty Image", SaveImage: "Save Image [REDACTED]" });
  expect(job.workflow).toEqual({ prompt });
  expect(server.seen.slice(asked).filter(({ url }) => url.includes("object_info"))).toEqual([]);
  expect(await details(await harness.connect(server.url, KEY))).not.toHaveProperty("class_names");
});
