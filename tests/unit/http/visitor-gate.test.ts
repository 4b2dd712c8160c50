// Limits for clients without a session, over a real socket with a fake page renderer.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sendUncaughtError } from "@/lib/http/error-responses";
import { removeBasePath } from "@/lib/http/request-line";
import { createVisitorGate } from "@/lib/http/visitor-gate";
import { StoreUnavailableError } from "@/lib/shared/error-codes";
import { type VisitorResponse } from "@/lib/shared/http-types";
import { until } from "@/tests/support/until";

const MAX_RUNNING_AND_WAITING = 2 + 64;

let server: Server;
let url: string;
let renderedUrls: string[];
let pendingRenders: (() => void)[];
let [isRenderBlocked, isRenderFailing] = [false, false];
let renderedStatus: number;
let [waitMs, refundCount, nowMs] = [0, 0, 0];
let visitorResponse: VisitorResponse;
let ruleError: Error | undefined;

async function render(request: IncomingMessage, response: ServerResponse): Promise<void> {
  renderedUrls.push(request.url ?? "");
  if (isRenderFailing) throw new Error("no page");
  const blocked = isRenderBlocked && new Promise<void>((resolve) => pendingRenders.push(resolve));
  await blocked;
  response.setHeader("content-security-policy", `script-src 'nonce-abc${renderedUrls.length}'`);
  response.setHeader("set-cookie", "seen=1");
  response.writeHead(renderedStatus, { "content-type": "text/html" });
  response.write(`<script nonce="abc${renderedUrls.length}">`);
  response.end("x".repeat(2000));
}

beforeEach(async () => {
  [renderedUrls, pendingRenders] = [[], []];
  [isRenderBlocked, isRenderFailing] = [false, false];
  renderedStatus = 200;
  [waitMs, refundCount, nowMs] = [0, 0, 0];
  visitorResponse = { kind: "own" };
  ruleError = undefined;
  const gate = createVisitorGate({
    rules: () => ({
      isMember: async ({ headers }) => {
        if (ruleError && headers.cookie === "member") throw ruleError;
        return headers.cookie === "member";
      },
      getResponse: async () => {
        if (ruleError) throw ruleError;
        return visitorResponse;
      },
    }),
    render,
    limit: {
      take: async () => waitMs,
      refund: async () => void (refundCount += 1),
    },
    now: () => nowMs,
  });
  server = createServer((request, response) => {
    removeBasePath(request, "/desk");
    const fail = (error: unknown) => sendUncaughtError(request, response, error);
    if (request.url?.startsWith("/api/health")) return void gate.serveHealth(request, response).catch(fail);
    const isApiCall = request.url?.startsWith("/api/");
    const respond = () => response.writeHead(Number(request.headers["x-status"] ?? 200)).end(isApiCall ? "[]" : "a member's page");
    const isHandled = isApiCall
      ? gate.admitCall(request, response).then((isAdmitted) => !isAdmitted)
      : gate.serveVisitor(request, response);
    isHandled.then((isAnswered) => isAnswered || respond(), fail);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterEach(() => {
  pendingRenders.forEach((resolve) => resolve());
  server.closeAllConnections();
  server.close();
});

const sharedResponse: VisitorResponse = { kind: "shared", key: "/sign-in", url: "/sign-in", language: "en" };
const readPage = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url + path, { headers, redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

it("renders a shared page once with a nonce per visitor", async () => {
  visitorResponse = sharedResponse;
  const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => readPage(`/sign-in?x=${index}`)));
  expect(renderedUrls).toEqual(["/sign-in"]);
  const nonces = responses.map(({ headers, text }) => {
    const nonce = /'nonce-([^']+)'/.exec(headers.get("content-security-policy") ?? "")?.[1] ?? "";
    expect(text).toContain(`<script nonce="${nonce}">`);
    return nonce;
  });
  expect(new Set(nonces).size).toBe(20);
  expect((await fetch(url, { method: "HEAD" })).headers.get("content-length")).not.toBe("0");
});

it("renders a shared page or checks health again after a failure", async () => {
  visitorResponse = sharedResponse;
  for (const path of ["/sign-in", "/api/health"]) {
    isRenderFailing = true;
    expect((await readPage(path)).status).toBe(500);
    isRenderFailing = false;
    expect((await readPage(path)).status).toBe(200);
  }
  expect(renderedUrls).toHaveLength(4);
});

it("doesn't cache a rendered error page", async () => {
  visitorResponse = sharedResponse;
  for (const status of [500, 200]) {
    renderedStatus = status;
    expect((await readPage("/sign-in")).status).toBe(status);
  }
});

it("returns an error page when the rules fail or the database is unavailable", async () => {
  for (const [error, status, text] of [
    [new StoreUnavailableError("gone"), 503, "The database is unavailable."],
    [new Error("secret"), 500, "Something went wrong."],
  ] as const) {
    ruleError = error;
    for (const cookie of ["other=1", "member"]) {
      const page = await readPage("/jobs", { accept: "text/html", cookie });
      expect(page).toMatchObject({ status, text: expect.stringContaining(text) });
    }
  }
  await readPage("/api/jobs", { cookie: "member", "x-status": "503" });
  await until("the attempt is refunded", () => refundCount === 1);
});

it("returns 503 with Retry-After beyond the render limit but serves members", async () => {
  isRenderBlocked = true;
  const pages = Array.from({ length: MAX_RUNNING_AND_WAITING + 10 }, (_, index) => readPage(`/own/${index}`));
  const refusal = await Promise.race(pages);
  expect([refusal.status, refusal.headers.get("retry-after")]).toEqual([503, "1"]);
  expect((await readPage("/jobs", { cookie: "member" })).text).toBe("a member's page");
  expect(renderedUrls).toHaveLength(2);
  isRenderBlocked = false;
  pendingRenders.forEach((resolve) => resolve());
  const statuses = (await Promise.all(pages)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503)).toHaveLength(10);
  expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_RUNNING_AND_WAITING);
});

it("returns 429 with Retry-After beyond an address's limit but serves members", async () => {
  waitMs = 2500;
  const refusal = await readPage("/sign-in", { accept: "text/html" });
  expect([refusal.status, refusal.headers.get("retry-after"), renderedUrls.length]).toEqual([429, "3", 0]);
  expect((await readPage("/jobs", { cookie: "member" })).text).toBe("a member's page");
});

it("redirects under the base path and keeps a render's cookies", async () => {
  visitorResponse = { kind: "redirect", location: "/sign-in" };
  const redirected = await readPage("/jobs");
  expect([redirected.status, redirected.headers.get("location")]).toEqual([307, "/desk/sign-in"]);
  visitorResponse = { kind: "own" };
  expect((await readPage("/embed/start")).headers.get("set-cookie")).toBe("seen=1");
});

it("compresses pages only for clients that accept gzip", async () => {
  for (const [encoding, expected] of [
    ["gzip", "gzip"],
    ["gzip;q=0, identity", null],
  ] as const)
    expect((await readPage("/own", { "accept-encoding": encoding })).headers.get("content-encoding")).toBe(expected);
});

it("limits API calls without a session per address", async () => {
  expect((await readPage("/api/jobs", { "x-status": "200" })).status).toBe(200);
  await until("the attempt is refunded", () => refundCount === 1);
  for (const status of ["401", "404", "500"]) expect((await readPage("/api/jobs", { "x-status": status })).status).toBe(Number(status));
  expect((await readPage("/api/console/session?x=1")).status).toBe(200);
  waitMs = 500;
  expect((await readPage("/api/jobs")).status).toBe(429);
  expect((await readPage("/api/jobs", { cookie: "member" })).text).toBe("[]");
  expect(refundCount).toBe(1);
});

it("doesn't count a member's calls", async () => {
  await readPage("/api/jobs", { cookie: "member", "x-status": "404" });
  await readPage("/api/console/session", { cookie: "member" });
  await until("both attempts are refunded", () => refundCount === 2);
});

it("shares one health check per second among all clients without limits", async () => {
  waitMs = 500;
  const responses = await Promise.all(Array.from({ length: 100 }, (_, index) => readPage(`/api/health?x=${index}`)));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(renderedUrls).toEqual(["/api/health"]);
  nowMs += 1000;
  await readPage("/api/health");
  expect(renderedUrls).toHaveLength(2);
});
