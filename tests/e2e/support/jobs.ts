// Creates jobs through the console's API.
import { type APIRequestContext, expect } from "@playwright/test";
import { type Desk } from "./desk";

/** A graph with two consecutive waits, so that tests can observe the job halfway. */
export function createSlowGraph(seconds: number, suffix = ""): Record<string, unknown> {
  return {
    "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 3368652 } },
    "2": { class_type: "Wait", inputs: { seconds: seconds / 2, anything: ["1", 0] }, _meta: { title: "First wait" } },
    "3": { class_type: "Wait", inputs: { seconds: seconds / 2, anything: ["2", 0] }, _meta: { title: "Second wait" } },
    "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: `slow${suffix}` } },
  };
}

export const failingGraph = {
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 1 } },
  "2": { class_type: "Fail", inputs: { message: "no such file", anything: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "fails" } },
};

/** `name`: the workflow's name, as an editor sends it. */
type SubmitOptions = { connection?: string; name?: string };

export async function submitJob(
  request: APIRequestContext,
  desk: Desk,
  prompt: unknown,
  { connection, name }: SubmitOptions = {},
): Promise<string> {
  const extraData = name === undefined ? {} : { extra_data: { extra_pnginfo: { workflow: { name } } } };
  const response = await request.post(`${desk.url}/api/prompt`, {
    data: { prompt, ...extraData },
    headers: { origin: desk.url },
    params: connection === undefined ? {} : { connection },
  });
  expect(response.status(), await response.text()).toBe(200);
  const { prompt_id: id }: { prompt_id: string } = await response.json();
  return id;
}

/** Cancels a pending or running job. */
export async function cancelJob(request: APIRequestContext, desk: Desk, id: string): Promise<void> {
  const response = await request.post(`${desk.url}/api/jobs/${id}/cancel`, { headers: { origin: desk.url } });
  expect(response.status(), await response.text()).toBe(200);
}

/** Removes all ended jobs, so that lists on the shared console contain only the test's own. Waits for jobs that are still ending. */
export async function clearHistory(request: APIRequestContext, desk: Desk): Promise<void> {
  await expect(async () => {
    const response = await request.post(`${desk.url}/api/history`, { data: { clear: true }, headers: { origin: desk.url } });
    expect(response.status(), await response.text()).toBe(200);
    const { jobs }: { jobs: unknown[] } = await (await request.get(`${desk.url}/api/jobs`, { params: { limit: "1" } })).json();
    expect(jobs).toEqual([]);
  }).toPass();
}

async function getJobState(request: APIRequestContext, desk: Desk, id: string, connection?: string): Promise<string> {
  const response = await request.get(`${desk.url}/api/jobs/${id}`, { params: connection === undefined ? {} : { connection } });
  const { status }: { status: string } = await response.json();
  return status;
}

export async function waitForState(request: APIRequestContext, desk: Desk, id: string, state: string, connection?: string): Promise<void> {
  await expect.poll(() => getJobState(request, desk, id, connection), { timeout: 30_000, intervals: [100] }).toBe(state);
}
