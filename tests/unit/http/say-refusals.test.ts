import { createServer, type RequestListener } from "node:http";
import { afterEach, expect, test } from "vitest";
import { sayRefusals } from "@/lib/http/next-answers";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A server that refuses as Next does: a status, and nothing more. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    sayRefusals(request, response, async (path) => (path === "/api/jobs" ? "GET, HEAD" : undefined));
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
}
const empty =
  (status: number): RequestListener =>
  (_request, response) => {
    response.statusCode = status;
    response.writeHead(status);
    response.flushHeaders();
    response.end();
  };

test("a method that an address has not is refused with the envelope, an id and the methods that it has", async () => {
  const answer = await fetch(`${await serve(empty(405))}/api/jobs`, { method: "PATCH", body: "{}" });
  expect([answer.status, answer.headers.get("allow"), answer.headers.get("cache-control")]).toEqual([405, "GET, HEAD", "no-store"]);
  expect(await answer.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED", request_id: answer.headers.get("x-request-id") });
});

test("a method that nobody knows is a bad request", async () => {
  const answer = await fetch(`${await serve(empty(400))}/api/jobs`, { method: "PROPFIND" });
  expect([answer.status, (await answer.json()).code]).toEqual([400, "BAD_REQUEST"]);
});

test("where nobody tells the methods, the refusal stands without them; HEAD has no body", async () => {
  const url = await serve(empty(405));
  const answer = await fetch(`${url}/api/elsewhere`, { method: "PUT" });
  expect([answer.headers.get("allow"), (await answer.json()).code]).toEqual([null, "METHOD_NOT_ALLOWED"]);
  const head = await fetch(`${url}/api/jobs`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([405, "application/json", ""]);
});

test("an answer that says something itself, and a page, are left alone", async () => {
  const own: RequestListener = (_request, response) => void response.writeHead(405, { "content-type": "text/plain" }).end("mine");
  expect(await (await fetch(`${await serve(own)}/api/jobs`, { method: "PUT" })).text()).toBe("mine");
  const bare: RequestListener = (_request, response) => {
    response.writeHead(405);
    response.write("mi");
    response.end("ne");
  };
  expect(await (await fetch(`${await serve(bare)}/api/jobs`, { method: "PUT" })).text()).toBe("mine");
  expect(await (await fetch(`${await serve(empty(405))}/jobs`, { method: "PUT" })).text()).toBe("");
  expect(await (await fetch(`${await serve(empty(204))}/api/jobs`)).text()).toBe("");
  expect(await (await fetch(`${await serve(empty(405))}/apiary`, { method: "PUT" })).text()).toBe("");
});
