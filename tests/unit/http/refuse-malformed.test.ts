import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { refuse } from "@/lib/http/refusals";
import { judgeEncoding } from "@/lib/http/request-line";

const server = createServer((request, response) => {
  const malformed = judgeEncoding(request);
  if (malformed) refuse(request, response, malformed);
  else response.writeHead(204).end();
});
let origin = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  origin = typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

test.each(["/api/jobs/%E0%A4%A", "/api/jobs/%", "/%FF/page"])("%s is refused with the envelope and an id", async (path) => {
  const answer = await fetch(origin + path);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: "BAD_REQUEST", request_id: answer.headers.get("x-request-id") });
});

test("a person reads so on a page that leads back, and a program asked for no page", async () => {
  const answer = await fetch(`${origin}/%E0%A4%A`, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
  const page = await answer.text();
  expect(page).toContain("There is no such page");
  expect(page).toContain('<a href="/">');
  expect((await fetch(`${origin}/%E0%A4%A`, { headers: { accept: "*/*" } })).headers.get("content-type")).toBe("application/json");
});

test.each(["/", "/api/userdata/a%2Fb%25", "/api/jobs?name=%E0%A4%A"])("%s is left alone", async (path) => {
  expect((await fetch(origin + path)).status).toBe(204);
});
