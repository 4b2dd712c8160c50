import { once } from "node:events";
import { createServer, request as ask, type Server } from "node:http";
import { type AddressInfo, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createEventSockets, handleUpgrades, type UpgradeHandler } from "@/lib/http/event-sockets";
import { addBasePath } from "@/lib/http/request-line";
import { createHttpServer } from "@/lib/http/server";
import { type Feed, type FeedAdmission } from "@/lib/shared/http-types";
import { getRefusalStatus, openEvents } from "@/tests/support/event-socket";
import { createHarness, type HarnessRequest } from "@/tests/support/harness";
import { startProxy } from "@/tests/support/proxy";
import { openRaw, readRaw, sendRaw } from "@/tests/support/raw-http";
import { until } from "@/tests/support/until";

describe("upgrades", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function listening(handlers: Record<string, UpgradeHandler> = {}): Promise<string> {
    server = createServer((request, response) => {
      request.setEncoding("utf8");
      let body = "";
      request.on("data", (text: string) => (body += text));
      request.on("end", () => response.end(`${request.method} ${request.url} ${body} ${request.headers.upgrade ?? "plain"}`));
    });
    handleUpgrades(server, handlers, () => undefined);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  const webSocket = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

  const connections = () => new Promise((resolve) => server?.getConnections((_error, count) => resolve(count)));

  describe("an upgrade", () => {
    it("refuses an unserved WebSocket path and closes its connection", async () => {
      const url = await listening();
      const { socket, received } = openRaw(url);
      socket.allowHalfOpen = true;
      socket.write(webSocket("/jobs"));
      await until("it is answered", () => received().includes("}"));
      expect(readRaw(received())).toMatchObject({ status: 404, body: expect.stringContaining("NOT_FOUND") });
      await until("nothing is held", async () => (await connections()) === 0);
      socket.destroy();
    });

    it("reaches its path's handler with query and early bytes", async () => {
      const url = await listening({
        "/ws": (request, socket, head) => void socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${request.url} ${head.toString()}`),
      });
      expect(await sendRaw(url, `${webSocket("/ws?clientId=7")}more`)).toContain("/ws?clientId=7 more");
    });

    it("ends with 500 when its handler fails", async () => {
      const url = await listening({
        "/ws": () => {
          throw new Error("broken");
        },
      });
      expect(readRaw(await sendRaw(url, webSocket("/ws"))).status).toBe(500);
      expect(readRaw(await sendRaw(url, webSocket("/ws"))).status).toBe(500);
    });

    it("treats an unknown protocol like a plain request", async () => {
      const url = await listening();
      const offer = "Host: here\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n";
      const { socket, received } = openRaw(url);
      socket.write(`POST /a?b=c HTTP/1.1\r\n${offer}Content-Length: 4\r\n\r\nbo`);
      socket.write("dy");
      await until("it is answered", () => received().includes("POST /a?b=c body plain"));
      socket.write(`GET /again HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
      await until("the next one too", () => received().includes("GET /again  plain"));
      socket.destroy();
    });
  });
});

describe("event sockets", () => {
  let open: Extract<FeedAdmission, { ok: true }>["open"];
  const sockets = createEventSockets(() => ({ ok: true, owner: "ada", open: (target) => open(target) }), { limits: { inAll: 1 } });
  const bounds = { patienceMs: 60_000, hosts: undefined, isPage: () => false, upgrades: { "/ws": sockets.handler } };
  const server = createHttpServer(bounds, (_request, response) => void response.writeHead(404).end());
  let url = "";
  beforeAll(async () => {
    url = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}/ws`;
  });
  afterAll(async () => {
    sockets.close();
    await server.close(1000);
  });

  it("stops a feed immediately when its peer has disconnected", async () => {
    let resolve: (feed: Feed) => void = () => undefined;
    const feedPromise = new Promise<Feed>((settle) => (resolve = settle));
    open = () => feedPromise;
    await (await openEvents(url)).close();
    let stopped = 0;
    open = () => Promise.resolve({ stop: () => undefined, objection: () => undefined });
    await until("its place is free", async () => (await getRefusalStatus(url)) === undefined);
    resolve({ stop: () => void (stopped += 1), objection: () => undefined });
    await until("it is stopped", () => stopped === 1);
  });

  it("closes with a retry code when no feed can be opened", async () => {
    open = () => Promise.reject(new Error("the database is away"));
    const { socket } = await until("there is a place", () => openEvents(url).catch(() => undefined));
    const [code, reason] = (await once(socket, "close")) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([1013, "Events of jobs cannot be sent now. Try again."]);
  });
});

describe("json length", async () => {
  const harness = await createHarness();
  const bounds = { patienceMs: 60_000, hosts: undefined, isPage: () => false };
  let options: HarnessRequest = {};
  const server = createHttpServer(bounds, async ({ url = "" }, response) => {
    const { status, headers, body } = await harness.request(url, options);
    response.statusCode = status;
    // As Next copies headers and a body: all headers but the length, each as a list.
    headers.forEach((value, name) => name === "content-length" || response.setHeader(name, [value]));
    response.flushHeaders();
    for await (const chunk of body ?? []) response.write(chunk);
    response.end();
  });
  const url = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}`;
  afterAll(() => server.close(0));

  it.each([
    ["a list of the service", "/api/jobs", { as: "viewer" }, 200],
    ["a value of the console", "/api/console/views", { as: "viewer", method: "POST", json: { name: "Ansicht für 猫", query: "" } }, 201],
    ["a shared value", "/api/object_info/SaveImage", { as: "viewer" }, 200],
    ["a failure", "/api/jobs/none", { as: "viewer" }, 404],
  ] satisfies [string, string, HarnessRequest, number][])("computes the length of %s in bytes", async (_what, path, request, status) => {
    options = request;
    const response = await fetch(url + path);
    const text = await response.text();
    // A client truncates what exceeds the length.
    expect(() => JSON.parse(text)).not.toThrow();
    expect([response.status, response.headers.get("content-type")]).toEqual([status, "application/json"]);
    expect([response.headers.get("content-length"), response.headers.get("transfer-encoding")]).toEqual([
      String(Buffer.byteLength(text)),
      null,
    ]);
    expect([...response.headers.keys()].filter((name) => name.startsWith("x-lightdesk"))).toEqual([]);
  });
});

describe("base path", async () => {
  const basePath = "/desk";
  let own = "";

  const isPage = (path: string) => !path.startsWith("/api/");
  const upgrades = {
    "/ws": ({ url }: { url?: string }, socket: { end(text: string): void }) =>
      socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\nspoken at ${url}`),
  };
  const rules = { patienceMs: 5000, hosts: undefined, isPage, upgrades, basePath };
  const server = createHttpServer(rules, ({ url = "" }, response) => void response.end(`${url} ${addBasePath(url, basePath)}`));
  own = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}`;
  afterAll(() => server.close(0));

  /** Sends the path unchanged: fetch would resolve it. */
  function get(origin: string, path: string, headers: Record<string, string> = {}, method = "GET"): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = ask({ ...pick(new URL(origin)), path, method, headers }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => (body += text));
        response.on("end", () => resolve(body));
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
  ])("behind a proxy that %s", async (_words, isTakenOff) => {
    const proxy = await startProxy(() => own, { path: { name: basePath, isTakenOff } });
    const origin = `http://${proxy.host}`;
    afterAll(() => proxy.stop());

    it.each([
      ["/desk", "/ /desk"],
      ["/desk/", "/ /desk"],
      ["/desk?a=/desk", "/?a=/desk /desk?a=/desk"],
      ["/desk/jobs?status=failed", "/jobs?status=failed /desk/jobs?status=failed"],
      ["/desk/api/userdata/a%2Fb", "/api/userdata/a%2Fb /desk/api/userdata/a%2Fb"],
      ["/desk/jobs/desk/desk", "/jobs/desk/desk /desk/jobs/desk/desk"],
    ])("maps %s to one internal address and keeps the path once for Next", async (path, read) => {
      expect(await get(origin, path)).toBe(read);
    });

    it("connects a WebSocket to its handler", async () => {
      expect(await sendRaw(origin, webSocket("/desk/ws?clientId=7"))).toContain("spoken at /ws?clientId=7");
      expect(readRaw(await sendRaw(origin, webSocket("/desk/jobs"))).status).toBe(404);
    });

    it("links refused pages to the console, but not refused routes", async () => {
      expect(await get(origin, "/desk/jobs", { accept: "text/html" }, "POST")).toContain('<a href="/desk">');
      expect(await get(origin, "/desk/api/jobs", {}, "POST")).toBe("/api/jobs /desk/api/jobs");
    });
  });

  it("strips only its own path and only once", async () => {
    expect(await get(own, "/desktop")).toBe("/desktop /desk/desktop");
    expect(await get(own, "/%64esk/jobs")).toBe("/%64esk/jobs /desk/%64esk/jobs");
    expect(await get(own, "/desk/desk/jobs")).toBe("/desk/jobs /desk/desk/jobs");
    expect(await get(own, "/desk//elsewhere.example/")).toBe("//elsewhere.example/ /desk//elsewhere.example/");
  });

  it("handles an ignored upgrade as a plain request", async () => {
    const { socket, received } = openRaw(own);
    socket.write("GET /desk/desk/x HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    await until("it is answered", () => received().includes("/desk/x /desk/desk/x"));
    socket.destroy();
  });

  it.each([
    [true, 75_000],
    [false, 16_000],
  ])("keeps an idle connection open longer when it is a proxy's (%s)", async (isProxy, expectedMs) => {
    const sockets: Socket[] = [];
    const rules = { patienceMs: 5000, hosts: undefined, isPage: () => false, isProxy: () => isProxy };
    const secondServer = createHttpServer(rules, ({ socket }, response) => {
      sockets.push(socket);
      response.end();
    });
    const { socket } = openRaw(`http://127.0.0.1:${await secondServer.listen(0, "127.0.0.1")}`);
    socket.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
    await until("it is idle", () => sockets[0]?.timeout === expectedMs || (!isProxy && sockets[0]?.timeout === 15_000));
    expect(sockets[0]?.timeout).toBeLessThanOrEqual(expectedMs);
    expect(sockets[0]?.timeout).toBeGreaterThan(isProxy ? 60_000 : 0);
    socket.destroy();
    await secondServer.close(0);
  });
});
