// Creates jobs through the console's API.
import { type APIRequestContext, expect } from "@playwright/test";
import { type Desk } from "./desk";

/** A job of some seconds that can be watched half-way: two consecutive waits. */
export function slowGraph(seconds: number, salt = ""): Record<string, unknown> {
  return {
    "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 3368652 } },
    "2": { class_type: "Wait", inputs: { seconds: seconds / 2, anything: ["1", 0] }, _meta: { title: "First wait" } },
    "3": { class_type: "Wait", inputs: { seconds: seconds / 2, anything: ["2", 0] }, _meta: { title: "Second wait" } },
    "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: `slow${salt}` } },
  };
}

export const failingGraph = {
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 1 } },
  "2": { class_type: "Fail", inputs: { message: "no such file", anything: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "fails" } },
};

/** `name`: the workflow's name, as sent by an editor. */
type Sending = { connection?: string; name?: string };

export async function submit(request: APIRequestContext, desk: Desk, prompt: unknown, { connection, name }: Sending = {}): Promise<string> {
  const extra = name === undefined ? {} : { extra_data: { extra_pnginfo: { workflow: { name } } } };
  const response = await request.post(`${desk.url}/api/prompt`, {
    data: { prompt, ...extra },
    headers: { origin: desk.url },
    params: connection === undefined ? {} : { connection },
  });
  expect(response.status(), await response.text()).toBe(200);
  const { prompt_id: id }: { prompt_id: string } = await response.json();
  return id;
}

/** Cancels running jobs too. */
export async function cancel(request: APIRequestContext, desk: Desk, id: string): Promise<void> {
  const response = await request.post(`${desk.url}/api/jobs/${id}/cancel`, { headers: { origin: desk.url } });
  expect(response.status(), await response.text()).toBe(200);
}

async function jobState(request: APIRequestContext, desk: Desk, id: string, connection?: string): Promise<string> {
  const response = await request.get(`${desk.url}/api/jobs/${id}`, { params: connection === undefined ? {} : { connection } });
  const { status }: { status: string } = await response.json();
  return status;
}

export async function untilState(request: APIRequestContext, desk: Desk, id: string, state: string, connection?: string): Promise<void> {
  await expect.poll(() => jobState(request, desk, id, connection), { timeout: 30_000, intervals: [100] }).toBe(state);
}
