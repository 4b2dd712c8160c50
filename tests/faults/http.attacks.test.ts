// Attacks both servers in their production builds, as a client without an account.
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { closeAfterwards } from "@/tests/support/close-afterwards";
import { openRaw, parseRawResponse, sendRaw } from "@/tests/support/raw-http";
import { type StartedProcess, startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

type RunningServer = StartedProcess & { url: string };
type ServerOptions = { script: string; label: string; settings?: Record<string, string>; descriptors?: number };

/** Starts a server for the test that calls this, or for all tests of a group. */
async function startServer({ script, label, settings, descriptors }: ServerOptions): Promise<RunningServer> {
  const environment = { PORT: "0", LIGHTDESK_DATA_DIR: createTemporaryFolder(), LIGHTDESK_CONCURRENCY: "1", ...settings };
  const started = startProcess(script, environment, [], { descriptors });
  closeAfterwards(async () => void (await started.stop("SIGKILL")));
  return { ...started, url: await started.waitForOutput(label) };
}

const servers = [
  { name: "console", script: "dist/console.mjs", label: "Lightdesk", large: "/samples/photo.png" },
  { name: "service", script: "dist/service.mjs", label: "Service", large: "/api/openapi.json" },
];
const MAX_DESCRIPTORS = 256;
const MIB = 1024 ** 2;

const rawConnections: ReturnType<typeof openRaw>[] = [];
afterEach(() => {
  for (const { socket } of rawConnections.splice(0)) socket.destroy();
});

function sendAttack({ url }: RunningServer, bytes: string, options?: Parameters<typeof openRaw>[1]) {
  const connection = openRaw(url, options);
  rawConnections.push(connection);
  connection.socket.write(bytes);
  return connection;
}

const countDescriptors = async ({ pid }: RunningServer) => (await readdir(`/proc/${pid}/fd`)).length;
const getMemory = async ({ pid }: RunningServer) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
const getHealthStatus = ({ url }: RunningServer) => fetch(`${url}/api/health`).then(({ status }) => status);

/** Two parsers that disagree about the body's length would desynchronize requests. */
const createAmbiguousRequest = (lengths: string) =>
  `POST /api/prompt HTTP/1.1\r\nHost: localhost\r\n${lengths}\r\n\r\n0\r\n\r\nGET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe.each(servers)("the $name", ({ script, label, large }) => {
  const start = (descriptors?: number) =>
    startServer({ script, label, descriptors, settings: { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "600" } });

  it("exits on SIGTERM while bodies, headers and responses are stalled", async () => {
    const server = await start();
    const { host } = new URL(server.url);
    sendAttack(server, "GET /api/health HTTP/1.1\r\nHost:");
    sendAttack(server, `POST /api/console/set-up HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 9000\r\n\r\n{`, { isHalfOpen: true });
    const { socket } = sendAttack(server, `GET ${large} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(10), { isHalfOpen: true });
    socket.pause();
    expect(await getHealthStatus(server)).toBe(200);
    expect(await server.stop("SIGTERM")).toBe(0);
  });

  it("serves other clients when one address uses all its connections", async () => {
    const server = await start(MAX_DESCRIPTORS);
    const attackers = Array.from({ length: 2 * MAX_DESCRIPTORS }, () => sendAttack(server, "GET /", { from: "127.0.0.2" }));
    await until("the remaining connections are refused", () => attackers.filter(({ socket }) => socket.closed).length > MAX_DESCRIPTORS);
    expect(await countDescriptors(server)).toBeLessThan(MAX_DESCRIPTORS / 2);
    expect(await getHealthStatus(server)).toBe(200);
    for (const { socket } of attackers) socket.destroy();
    const isServedAgain = () => sendRaw(server.url, `GET /api/health HTTP/1.0\r\n\r\n`).then((text) => text.includes("200"));
    await until("the address is served again", isServedAgain);
    expect(await server.stop("SIGTERM")).toBe(0);
  });

  describe("with a short time limit", async () => {
    const server = await startServer({ script, label, settings: { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" } });
    const { host } = new URL(server.url);

    it("refuses WebSockets on other routes and holds no connections open", async () => {
      for (const path of ["/", "/jobs", "/api/jobs", "/_next/webpack-hmr", "/nothing"]) {
        const bytes = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
        const { socket, received } = sendAttack(server, bytes, { isHalfOpen: true });
        await until("the connection is refused and ended", () => socket.readableEnded);
        expect(parseRawResponse(received()).status).toBe(404);
      }
      const before = await countDescriptors(server);
      await until("the server has closed connections that ignore its FIN", async () => (await countDescriptors(server)) <= before - 5);
    });

    it("closes connections that send no request or don't read the response in time", async () => {
      const before = await countDescriptors(server);
      const silent = sendAttack(server, "");
      const slow = sendAttack(server, "GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: ", { isHalfOpen: true });
      // More than the socket buffers of both sides, so that the rest waits in the server.
      const unread = Array.from({ length: 16 }, () => sendAttack(server, `GET ${large} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(16)));
      for (const { socket } of unread) socket.pause();
      await until("the server responds to them", async () => (await countDescriptors(server)) > before + 10);
      await until("no connection is held", async () => (await countDescriptors(server)) <= before);
      await until("the silent one is ended", () => silent.socket.closed);
      expect(parseRawResponse(slow.received()).status).toBe(408);
    });

    it("handles one request per connection at a time and drops pipelined floods", async () => {
      await getHealthStatus(server);
      const before = await getMemory(server);
      const flood = `GET ${large} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(100);
      const attackers = Array.from({ length: 50 }, () => sendAttack(server, flood));
      for (const { socket } of attackers) socket.pause();
      await until("all are ended", async () => {
        for (const { socket } of attackers) socket.resume();
        return attackers.every(({ socket }) => socket.closed);
      });
      expect(await getHealthStatus(server)).toBe(200);
      expect((await getMemory(server)) - before).toBeLessThan(200 * MIB);
      const responses = await sendRaw(
        server.url,
        `GET /api/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(4) +
          `GET /api/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(responses.match(/HTTP\/1\.1 200/g)).toHaveLength(5);
    });

    it.each([
      ["an address of another server", "GET http://elsewhere.example/api/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "BAD_REQUEST"],
      ["TRACE", "TRACE /api/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "METHOD_NOT_ALLOWED"],
      ["a name that is not this machine's", "GET /api/health HTTP/1.1\r\nHost: rebound.example\r\n\r\n", 421, "MISDIRECTED_REQUEST"],
      ["garbage", "hello\r\n\r\n", 400, "BAD_REQUEST"],
      ["a length and chunks at once", createAmbiguousRequest("Content-Length: 4\r\nTransfer-Encoding: chunked"), 400, "BAD_REQUEST"],
      ["chunks and a length at once", createAmbiguousRequest("Transfer-Encoding: chunked\r\nContent-Length: 4"), 400, "BAD_REQUEST"],
      ["two lengths", createAmbiguousRequest("Content-Length: 5\r\nContent-Length: 4"), 400, "BAD_REQUEST"],
      ["a coding after the chunks", createAmbiguousRequest("Transfer-Encoding: chunked, identity"), 400, "BAD_REQUEST"],
    ])("refuses %s", async (_name, bytes, status, code) => {
      const response = parseRawResponse(await sendRaw(server.url, bytes));
      expect({ status: response.status, body: JSON.parse(response.body) }).toMatchObject({ status, body: { code } });
      expect(response.head.toLowerCase()).toContain("content-security-policy: default-src 'none'");
      const options = await sendRaw(server.url, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      expect(parseRawResponse(options)).toMatchObject({ status: 204, head: expect.stringMatching(/allow: GET, HEAD/i) });
    });
  });
});

describe("the console", async () => {
  const { url, waitForOutput, output } = await startServer({ script: "dist/console.mjs", label: "Lightdesk" });
  const { host } = new URL(url);
  let ownerSession: string;

  it("accepts GET and HEAD for pages, reads no other body and always sends a CSP", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const response = parseRawResponse(
        await sendRaw(url, `${method} /jobs HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 9000000\r\n\r\nsome`),
      );
      expect({ method, status: response.status }).toEqual({ method, status: 405 });
      expect(response.head).toMatch(/allow: GET, HEAD/i);
    }
    const getStatus = async (method: string) => {
      const { status, head, body } = parseRawResponse(
        await sendRaw(url, `${method} /api/jobs HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 9000000\r\n\r\nsome`),
      );
      return [status, /^allow: (.*)/im.exec(head)?.[1]?.trim(), JSON.parse(body).code];
    };
    expect(await getStatus("PATCH")).toEqual([405, "GET, HEAD, OPTIONS", "METHOD_NOT_ALLOWED"]);
    expect(await getStatus("PROPFIND")).toEqual([400, undefined, "BAD_REQUEST"]);
    const pages = ["/", "/sign-in", "/jobs/x.png", "/jobs/x.json", "/nothing"];
    for (const path of [...pages, "/icon.svg", "/favicon.ico", "/samples/photo.png", "/api/health", "/api/nothing"]) {
      const response = await fetch(url + path, { redirect: "manual" });
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy, path).toMatch(/default-src '(self|none)'/);
      expect(policy.match(/default-src/g), path).toHaveLength(1);
    }
    for (const path of ["/api", "/api/jobs/", "/api//jobs", "/api/auth/session/"]) {
      const response = await fetch(url + path, { redirect: "manual" });
      expect([path, response.status, (await response.json()).code]).toEqual([path, 401, "UNAUTHORIZED"]);
    }
    // A browser requests it before it has read the page's link.
    const icon = await fetch(`${url}/favicon.ico`);
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    const missing = await fetch(`${url}/set-up/x.png`);
    expect(missing.headers.get("content-security-policy")).toContain("'nonce-");
  });

  it("logs failed sign-ins with their source but without passwords", async () => {
    const token = new URL(await waitForOutput("Set up")).searchParams.get("token");
    const password = "a long and odd sentence";
    const send = (path: string, body: string, headers: Record<string, string>) =>
      fetch(url + path, { method: "POST", headers: { origin: url, ...headers }, body, redirect: "manual" });
    const owner = JSON.stringify({ token, name: "Ada", email: "ada@desk.test", password });
    expect((await send("/api/console/set-up", owner, { "content-type": "application/json" })).status).toBe(201);
    const csrf = await fetch(`${url}/api/auth/csrf`);
    const { csrfToken }: { csrfToken: string } = await csrf.json();
    const getCookies = (response: Response) => response.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
    const signIn = (email: string, password: string) =>
      send("/api/auth/callback/credentials", new URLSearchParams({ csrfToken, email, password, json: "true" }).toString(), {
        "content-type": "application/x-www-form-urlencoded",
        cookie: getCookies(csrf).join("; "),
      });
    expect((await signIn("ada@desk.test", "wrong password")).status).toBe(401);
    expect((await signIn("typed-into-the-wrong-field", "x")).status).toBe(401);
    ownerSession = getCookies(await signIn("ada@desk.test", password)).join("; ");
    const { entries }: AuditPage = await (await fetch(`${url}/api/console/audit`, { headers: { cookie: ownerSession } })).json();
    expect(entries.slice(1, 3)).toMatchObject([
      { action: "signIn", status: 401, target: "127.0.0.1" },
      { action: "signIn", status: 401, target: "127.0.0.1", member: { name: "Ada" } },
    ]);
    expect(entries[1]?.member).toBeUndefined();
    expect(JSON.stringify(entries)).not.toContain("wrong-field");
  });

  it("limits a flooding address without a session and serves everyone else", async () => {
    const from = "127.0.0.3";
    const sendLines = async (path: string, lines = "", times = 1) => {
      const { socket, received } = openRaw(url, { from });
      const request = (extra: string) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}${extra}\r\n`;
      socket.write(request("").repeat(times - 1) + request("Connection: close\r\n"));
      await once(socket, "close");
      return received();
    };
    const responses = await Promise.all(Array.from({ length: 60 }, () => sendLines("/sign-in", "Accept: text/html\r\n", 10)));
    expect(responses.join("")).toContain("HTTP/1.1 429 ");
    expect(responses.join("").match(/HTTP\/1\.1 5\d\d /)).toBeNull();
    // The limit may let a few more through.
    for (const path of ["/sign-in", "/jobs", "/api/jobs", "/api/auth/csrf", "/share/guess"])
      expect(await sendLines(path, "", 15)).toMatch(/HTTP\/1\.1 429 [^]*retry-after: \d+/i);
    for (const path of ["/jobs", "/api/jobs", "/api/auth/csrf"])
      expect([path, parseRawResponse(await sendLines(path, `Cookie: ${ownerSession}\r\n`)).status]).toEqual([path, 200]);
    expect(parseRawResponse(await sendLines("/api/health")).status).toBe(200);
    const otherResponses = await Promise.all(
      ["/sign-in", "/share/guess", "/jobs"].map((path) => fetch(url + path, { redirect: "manual" })),
    );
    expect(otherResponses.map(({ status }) => status)).toEqual([200, 404, 307]);
  });

  it("returns JSON to API clients on pages and 404 for a missing file", async () => {
    for (const [name, value] of [
      ["accept", "application/json"],
      ["x-api-key", "ld_wrong"],
      ["authorization", "Bearer x"],
    ] as const) {
      const response = await fetch(`${url}/jobs`, { headers: { [name]: value }, redirect: "manual" });
      expect([response.status, (await response.json()).message]).toEqual([401, expect.stringContaining(`${url}/api`)]);
    }
    for (const path of ["/_next/static/nothing.js", "/samples/nothing.png"]) expect((await fetch(url + path)).status).toBe(404);
    const [first, second] = await Promise.all([1, 2].map(() => fetch(`${url}/sign-in?callbackUrl=/jobs`)));
    const getNonce = (response?: Response) => /'nonce-([^']+)'/.exec(response?.headers.get("content-security-policy") ?? "")?.[1] ?? "";
    expect([getNonce(first).length > 20, getNonce(first) === getNonce(second)]).toEqual([true, false]);
    expect(await first?.text()).toContain(`nonce="${getNonce(first)}"`);
  });

  it("rejects an oversized body with 413 and logs no error", async () => {
    for (const path of ["/api/console/set-up", "/api/auth/callback/credentials"]) {
      const body = `{"a":"${"x".repeat(3 * MIB)}"}`;
      const response = await fetch(url + path, { method: "POST", headers: { "content-type": "application/json", origin: url }, body });
      expect(response.status).toBe(413);
    }
    expect(output()).not.toMatch(/TypeError|failed to pipe/);
  });
});
