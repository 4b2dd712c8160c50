// Upgraded connections, event sockets, content lengths and base paths of the HTTP server.
import { once } from "node:events";
import { createServer, request as sendRequest, type Server } from "node:http";
import { type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createEventSockets, handleUpgrades, type UpgradeHandler } from "@/lib/http/event-sockets";
import { addBasePath } from "@/lib/http/request-line";
import { createHttpServer } from "@/lib/http/server";
import { type Feed, type FeedAdmission } from "@/lib/shared/http-types";
import { getRefusalStatus, openEventSocket } from "@/tests/support/event-socket";
import { createHarness, type HarnessRequest } from "@/tests/support/harness";
import { startProxy } from "@/tests/support/proxy";
import { openRaw, parseRawResponse, sendRaw } from "@/tests/support/raw-http";
import { until } from "@/tests/support/until";

const webSocket = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

describe("an upgrade", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function startServer(handlers: Record<string, UpgradeHandler> = {}): Promise<string> {
    server = createServer(async (request, response) => {
      const body = await text(request);
      response.end(`${request.method} ${request.url} ${body} ${request.headers.upgrade ?? "plain"}`);
    });
    handleUpgrades(server, handlers, () => undefined);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  const countConnections = () => new Promise((resolve) => server?.getConnections((_error, count) => resolve(count)));

  it("rejects an unknown WebSocket path and closes its connection", async () => {
    const url = await startServer();
    const { socket, received } = openRaw(url);
    socket.allowHalfOpen = true;
    socket.write(webSocket("/jobs"));
    await until("the response arrives", () => received().includes("}"));
    expect(parseRawResponse(received())).toMatchObject({ status: 404, body: expect.stringContaining("NOT_FOUND") });
    await until("no connection is open", async () => (await countConnections()) === 0);
    socket.destroy();
  });

  it("calls the handler for the path with the query and early bytes", async () => {
    const url = await startServer({
      "/ws": (request, socket, head) => void socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${request.url} ${head.toString()}`),
    });
    expect(await sendRaw(url, `${webSocket("/ws?clientId=7")}more`)).toContain("/ws?clientId=7 more");
  });

  it("ends with 500 when its handler fails", async () => {
    const url = await startServer({
      "/ws": () => {
        throw new Error("broken");
      },
    });
    expect(parseRawResponse(await sendRaw(url, webSocket("/ws"))).status).toBe(500);
    expect(parseRawResponse(await sendRaw(url, webSocket("/ws"))).status).toBe(500);
  });

  it("treats an unknown protocol like a plain request", async () => {
    const url = await startServer();
    const offer = "Host: here\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n";
    const { socket, received } = openRaw(url);
    socket.write(`POST /a?b=c HTTP/1.1\r\n${offer}Content-Length: 4\r\n\r\nbo`);
    socket.write("dy");
    await until("the response arrives", () => received().includes("POST /a?b=c body plain"));
    socket.write(`GET /again HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
    await until("the next response arrives", () => received().includes("GET /again  plain"));
    socket.destroy();
  });
});

describe("event sockets", () => {
  let open: Extract<FeedAdmission, { ok: true }>["open"];
  const sockets = createEventSockets(() => ({ ok: true, owner: "ada", open: (target) => open(target) }), { limits: { total: 1 } });
  const serverOptions = { headersTimeoutMs: 60_000, hosts: undefined, isPage: () => false, upgrades: { "/ws": sockets.handler } };
  const server = createHttpServer(serverOptions, (_request, response) => void response.writeHead(404).end());
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
    await (await openEventSocket(url)).close();
    let stopCount = 0;
    open = () => Promise.resolve({ stop: () => undefined, findDenialReason: () => undefined });
    await until("its slot is free", async () => (await getRefusalStatus(url)) === undefined);
    resolve({ stop: () => void (stopCount += 1), findDenialReason: () => undefined });
    await until("the feed is stopped", () => stopCount === 1);
  });

  it("closes with a retry code when no feed can be opened", async () => {
    open = () => Promise.reject(new Error("database unavailable"));
    const { socket } = await until("a slot is free", () => openEventSocket(url).catch(() => undefined));
    const [code, reason] = (await once(socket, "close")) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([1013, "Job events can't be sent now. Try again."]);
  });
});

describe("JSON content length", async () => {
  const harness = await createHarness();
  const serverOptions = { headersTimeoutMs: 60_000, hosts: undefined, isPage: () => false };
  let options: HarnessRequest = {};
  const server = createHttpServer(serverOptions, async ({ url = "" }, response) => {
    const { status, headers, body } = await harness.request(url, options);
    response.statusCode = status;
    // Next copies all headers except the length, each as a list.
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
    ["a failure", "/api/jobs/none", { as: "viewer" }, 404],
  ] satisfies [string, string, HarnessRequest, number][])("computes the length of %s in bytes", async (_label, path, request, status) => {
    options = request;
    const response = await fetch(url + path);
    const body = await response.text();
    // Clients truncate a body that exceeds the length.
    expect(() => JSON.parse(body)).not.toThrow();
    expect([response.status, response.headers.get("content-type")]).toEqual([status, "application/json"]);
    expect([response.headers.get("content-length"), response.headers.get("transfer-encoding")]).toEqual([
      String(Buffer.byteLength(body)),
      null,
    ]);
    expect([...response.headers.keys()].filter((name) => name.startsWith("x-lightdesk"))).toEqual([]);
  });
});

describe("base path", async () => {
  const basePath = "/desk";
  const isPage = (path: string) => !path.startsWith("/api/");
  const upgrades = {
    "/ws": ({ url }: { url?: string }, socket: { end(text: string): void }) =>
      socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\nupgraded at ${url}`),
  };
  const serverOptions = { headersTimeoutMs: 5000, hosts: undefined, isPage, upgrades, basePath };
  const server = createHttpServer(serverOptions, ({ url = "" }, response) => void response.end(`${url} ${addBasePath(url, basePath)}`));
  const serverUrl = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}`;
  afterAll(() => server.close(0));

  /** Sends the path unchanged, since fetch would normalize it. */
  function requestPath(origin: string, path: string, headers: Record<string, string> = {}, method = "GET"): Promise<string> {
    const { hostname, port } = new URL(origin);
    return new Promise((resolve, reject) => {
      const request = sendRequest({ hostname, port, path, method, headers }, (response) => resolve(text(response)));
      request.on("error", reject).end();
    });
  }

  describe.each([
    ["keeps the base path", false],
    ["removes the base path", true],
  ])("behind a proxy that %s", async (_label, isTakenOff) => {
    const proxy = await startProxy(() => serverUrl, { path: { name: basePath, isStripped: isTakenOff } });
    const origin = `http://${proxy.host}`;
    afterAll(() => proxy.stop());

    it.each([
      ["/desk", "/ /desk"],
      ["/desk/", "/ /desk"],
      ["/desk?a=/desk", "/?a=/desk /desk?a=/desk"],
      ["/desk/jobs?status=failed", "/jobs?status=failed /desk/jobs?status=failed"],
      ["/desk/api/userdata/a%2Fb", "/api/userdata/a%2Fb /desk/api/userdata/a%2Fb"],
      ["/desk/jobs/desk/desk", "/jobs/desk/desk /desk/jobs/desk/desk"],
    ])("maps %s to one internal path and keeps the base path once for Next", async (path, expected) => {
      expect(await requestPath(origin, path)).toBe(expected);
    });

    it("connects a WebSocket to its handler", async () => {
      expect(await sendRaw(origin, webSocket("/desk/ws?clientId=7"))).toContain("upgraded at /ws?clientId=7");
      expect(parseRawResponse(await sendRaw(origin, webSocket("/desk/jobs"))).status).toBe(404);
    });

    it("links rejected pages to the console, but not rejected API requests", async () => {
      expect(await requestPath(origin, "/desk/jobs", { accept: "text/html" }, "POST")).toContain('<a href="/desk">');
      expect(await requestPath(origin, "/desk/api/jobs", {}, "POST")).toBe("/api/jobs /desk/api/jobs");
    });
  });

  it("removes only the base path and only once", async () => {
    expect(await requestPath(serverUrl, "/desktop")).toBe("/desktop /desk/desktop");
    expect(await requestPath(serverUrl, "/%64esk/jobs")).toBe("/%64esk/jobs /desk/%64esk/jobs");
    expect(await requestPath(serverUrl, "/desk/desk/jobs")).toBe("/desk/jobs /desk/desk/jobs");
    expect(await requestPath(serverUrl, "/desk//elsewhere.example/")).toBe("//elsewhere.example/ /desk//elsewhere.example/");
  });

  it("handles an ignored upgrade as a plain request", async () => {
    const { socket, received } = openRaw(serverUrl);
    socket.write("GET /desk/desk/x HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    await until("the response arrives", () => received().includes("/desk/x /desk/desk/x"));
    socket.destroy();
  });

  it.each([
    [true, 75_000],
    [false, 16_000],
  ])("keeps an idle connection open longer when it is a proxy's (%s)", async (isProxy, expectedMs) => {
    const sockets: Socket[] = [];
    const serverOptions = { headersTimeoutMs: 5000, hosts: undefined, isPage: () => false, isProxy: () => isProxy };
    const secondServer = createHttpServer(serverOptions, ({ socket }, response) => {
      sockets.push(socket);
      response.end();
    });
    const { socket } = openRaw(`http://127.0.0.1:${await secondServer.listen(0, "127.0.0.1")}`);
    socket.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
    await until("the connection is idle", () => sockets[0]?.timeout === expectedMs || (!isProxy && sockets[0]?.timeout === 15_000));
    expect(sockets[0]?.timeout).toBeLessThanOrEqual(expectedMs);
    expect(sockets[0]?.timeout).toBeGreaterThan(isProxy ? 60_000 : 0);
    socket.destroy();
    await secondServer.close(0);
  });
});
