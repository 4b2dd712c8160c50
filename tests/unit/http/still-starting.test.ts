import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import { stillStarting } from "@/lib/http/refusals";

let server: Server;
let url: string;

beforeEach(async () => {
  server = createServer(stillStarting);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
});

afterEach(() => void server.close());

it("a person who comes while the console starts reads so on a page that asks again by itself", async () => {
  const answer = await fetch(`${url}/jobs`, { headers: { accept: "text/html,*/*;q=0.8" } });
  expect([answer.status, answer.headers.get("cache-control"), answer.headers.get("retry-after")]).toEqual([503, "no-store", "1"]);
  const page = await answer.text();
  expect(page).toContain("Lightdesk is starting");
  expect(page).toContain('http-equiv="refresh"');
});

it("a program gets the envelope of every other refusal", async () => {
  const answer = await fetch(`${url}/api/jobs`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ code: "STARTING", message: expect.any(String), request_id: expect.any(String) });
  expect(await (await fetch(`${url}/api/jobs`, { method: "HEAD" })).text()).toBe("");
});
