import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";

let harness: Harness;
beforeAll(async () => void (harness = await createHarness()));
afterAll(() => harness.dispose());

const id = "3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10";
const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
};

async function submit(workflow: Record<string, unknown>): Promise<string> {
  const json = { prompt: graph, extra_data: { extra_pnginfo: { workflow } } };
  const response = await harness.request("/api/prompt", { as: "operator", method: "POST", json });
  expect(response.status).toBe(200);
  return ((await response.json()) as { prompt_id: string }).prompt_id;
}

async function findListedJob(jobId: string): Promise<Record<string, unknown> | undefined> {
  const response = (await (await harness.request("/api/jobs", { as: "viewer" })).json()) as { jobs: Record<string, unknown>[] };
  return response.jobs.find((job) => job.id === jobId);
}

test("shows the submitted workflow name in the list", async () => {
  const jobId = await submit({ id, name: "product-hero-v4" });
  expect(await findListedJob(jobId)).toMatchObject({ workflow_id: id, workflow_name: "product-hero-v4" });
});

test("applies a workflow's last name to older jobs", async () => {
  const olderId = await submit({ id, name: "product-hero-v5" });
  await submit({ id, name: "product-hero-v6" });
  expect(await findListedJob(olderId)).toMatchObject({ workflow_name: "product-hero-v6" });
});

test("returns an id without a name for an unnamed workflow", async () => {
  const job = await findListedJob(await submit({}));
  expect(job?.workflow_id).toBeTypeOf("string");
  expect(job).not.toHaveProperty("workflow_name");
});
