// One server below a path, behind a reverse proxy that passes the path on and behind one that removes it.
import { request as ask } from "node:http";
import { type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withBasePath } from "@/lib/http/request-line";
import { createHttpServer, type HttpServer } from "@/lib/http/server";
import { startProxy } from "@/tests/support/proxy";
import { openRaw, readRaw, sendRaw } from "@/tests/support/raw-http";
import { until } from "@/tests/support/until";

const basePath = "/desk";
let server: HttpServer;
let own = "";

beforeAll(async () => {
  const isPage = (path: string) => !path.startsWith("/api/");
  const upgrades = {
    "/ws": ({ url }: { url?: string }, socket: { end(text: string): void }) =>
      socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\nspoken at ${url}`),
  };
  const rules = { patienceMs: 5000, hosts: undefined, isPage, upgrades, basePath };
  server = createHttpServer(rules, ({ url = "" }, response) => void response.end(`${url} ${withBasePath(url, basePath)}`));
  own = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}`;
});
afterAll(() => server.close(0));

/** Sends the path unchanged: fetch would resolve it. */
function get(origin: string, path: string, headers: Record<string, string> = {}, method = "GET"): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = ask({ ...pick(new URL(origin)), path, method, headers }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (text: string) => (body += text));
      answer.on("end", () => resolve(body));
    });
    request.on("error", reject).end();
  });
}
const pick = ({ hostname, port }: URL) => ({ hostname, port });

const webSocket = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

describe.each([
  ["passes the path on", false],
  ["takes the path off", true],
])("behind a proxy that %s", (_words, isTakenOff) => {
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let origin = "";
  beforeAll(async () => {
    proxy = await startProxy(() => own, { path: { name: basePath, isTakenOff } });
    origin = `http://${proxy.host}`;
  });
  afterAll(() => proxy.stop());

  it.each([
    ["/desk", "/ /desk"],
    ["/desk/", "/ /desk"],
    ["/desk?a=/desk", "/?a=/desk /desk?a=/desk"],
    ["/desk/jobs?status=failed", "/jobs?status=failed /desk/jobs?status=failed"],
    ["/desk/api/userdata/a%2Fb", "/api/userdata/a%2Fb /desk/api/userdata/a%2Fb"],
    ["/desk/jobs/desk/desk", "/jobs/desk/desk /desk/jobs/desk/desk"],
  ])("%s is one address inside, and has the path once for Next", async (path, read) => {
    expect(await get(origin, path)).toBe(read);
  });

  it("a WebSocket reaches its handler", async () => {
    expect(await sendRaw(origin, webSocket("/desk/ws?clientId=7"))).toContain("spoken at /ws?clientId=7");
    expect(readRaw(await sendRaw(origin, webSocket("/desk/jobs"))).status).toBe(404);
  });

  it("a page that is refused leads to the console, and a route is told from a page", async () => {
    expect(await get(origin, "/desk/jobs", { accept: "text/html" }, "POST")).toContain('<a href="/desk">');
    expect(await get(origin, "/desk/api/jobs", {}, "POST")).toBe("/api/jobs /desk/api/jobs");
  });
});

it("only the path itself is taken off, and once", async () => {
  expect(await get(own, "/desktop")).toBe("/desktop /desk/desktop");
  expect(await get(own, "/%64esk/jobs")).toBe("/%64esk/jobs /desk/%64esk/jobs");
  expect(await get(own, "/desk/desk/jobs")).toBe("/desk/jobs /desk/desk/jobs");
  expect(await get(own, "/desk//elsewhere.example/")).toBe("//elsewhere.example/ /desk//elsewhere.example/");
});

it("an upgrade that is not taken up is the same request without it", async () => {
  const { socket, received } = openRaw(own);
  socket.write("GET /desk/desk/x HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
  await until("it is answered", () => received().includes("/desk/x /desk/desk/x"));
  socket.destroy();
});

it.each([
  [true, 75_000],
  [false, 6_000],
])("keeps an idle connection open longer when it is a proxy's (%s)", async (isProxy, expectedMs) => {
  const sockets: Socket[] = [];
  const rules = { patienceMs: 5000, hosts: undefined, isPage: () => false, isProxy: () => isProxy };
  const other = createHttpServer(rules, ({ socket }, response) => {
    sockets.push(socket);
    response.end();
  });
  const { socket } = openRaw(`http://127.0.0.1:${await other.listen(0, "127.0.0.1")}`);
  socket.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  await until("it is idle", () => sockets[0]?.timeout === expectedMs || (!isProxy && sockets[0]?.timeout === 5_000));
  expect(sockets[0]?.timeout).toBeLessThanOrEqual(expectedMs);
  expect(sockets[0]?.timeout).toBeGreaterThan(isProxy ? 60_000 : 0);
  socket.destroy();
  await other.close(0);
});
