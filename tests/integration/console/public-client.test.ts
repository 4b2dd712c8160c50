// A public client of the family against the console's own /api, as a member who is signed in: it takes a `fetch` of one's own, through
// which the member's cookie goes along. The others of the tests send headers only where a socket is, which the routes here have none of.
import { Client } from "@stable-canvas/comfyui-client";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { record, sample } from "../service/support";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness();
});
afterAll(() => harness.dispose());

it("submits a sample, follows it by polling, fetches its picture, and reads queue, history, system and node library", async () => {
  const client = new Client({
    api_host: "desk.test",
    api_base: "/api",
    fetch: (address: string, init: RequestInit = {}) => {
      const { pathname, search } = new URL(address);
      const headers = Object.fromEntries(new Headers(init.headers));
      return harness.request(pathname + search, {
        as: "operator",
        method: init.method ?? "GET",
        headers,
        ...(init.body && { body: init.body }),
      });
    },
    WebSocket: undefined,
  });
  const done = await client.enqueue_polling(sample("01-invert"), { polling_ms: 100 });
  const [image] = done.images;
  const address = image?.type === "url" ? new URL(image.data) : undefined;
  const picture = await client.fetchApi(`/view${address?.search ?? ""}`);
  expect([...new Uint8Array(await picture.arrayBuffer()).subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
  expect(await client.getQueue()).toEqual({ Running: [], Pending: [] });
  expect((await client.getHistory()).History.map(({ prompt }) => prompt[1])).toEqual([done.prompt_id]);
  expect(record(await client.getSystemStats()).devices).toMatchObject([{ type: "cpu" }]);
  expect(Object.keys(await client.getNodeDefs())).toContain("SaveImage");
});
