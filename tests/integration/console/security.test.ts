// Generated over every route file in app/api, so that a new route is tested by these lines at once.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { coreOperations } from "@/lib/contract/operations";
import { hasRole, roles } from "@/lib/contract/people/roles";
import { messagesOf } from "@/lib/server/i18n/messages";
import { createHarness, type Harness, HOST } from "@/tests/support/harness";
import { listRouteFiles, loadRoutes, type Route } from "@/tests/support/routes";
import { type MadeToken, makeToken } from "@/tests/support/tokens";

const routes = await loadRoutes();
const label = ({ method, path }: Route) => `${method} ${path}`;
const context = ({ file, path }: Route) => ({ params: Promise.resolve(paramsOf(file, path)) });

/** These need no session on purpose; each has a guard of its own, tested elsewhere. */
const none = "00000000-0000-4000-8000-000000000000";
const ofShares = [`${none}`, `${none}/${none}`, "unlock", "workflow"].map((rest) => `/api/share/${none}/${rest}`);
const open = new Set([
  "/api/embed/check",
  "/api/embed/tickets",
  "/api/health",
  "/api/console/session",
  "/api/console/set-up",
  "/api/console/members/invitations/accept",
  ...ofShares,
]);
const isAuth = (route: Route) => route.path.startsWith("/api/auth/");
const closed = routes.filter((route) => !open.has(route.path) && !isAuth(route));

let harness: Harness;
let keyless: string;
let secrets: string[];
let tokens: Record<"all" | "viewer" | "reads" | "other" | "elsewhere", MadeToken>;

/** Routes closed to tokens, beside those that need a session: one person's data, and routes that may send a stored key anywhere. */
const forPeople = new Set([
  "listAppPeople",
  "listEmbedHosts",
  "addEmbedHost",
  "changeEmbedHost",
  "removeEmbedHost",
  "listRunners",
  "embedLook",
  "endEmbedSession",
  "readAccount",
  "listMembers",
  "listInvitations",
  "withdrawInvitation",
  "checkConnection",
  "useConnection",
  "exportUsage",
  "readUsage",
  "giveJobsView",
  "takeJobsView",
  "createShare",
  "listShares",
  "revokeShare",
  "listSavedViews",
  "createSavedView",
  "changeSavedView",
  "removeSavedView",
  "createApp",
  "importApp",
  "changeApp",
  "removeApp",
  "restoreApp",
  "favourApp",
  "addAppPreset",
  "changeAppPreset",
  "removeAppPreset",
]);
const isForPeople = ({ guard }: Route) => (guard?.recent ?? guard?.session ?? forPeople.has(guard?.action ?? "")) === true;
beforeAll(async () => {
  harness = await createHarness();
  keyless = await harness.connect("http://127.0.0.1:9", undefined);
  const { key } = await harness.console.serviceKeys().createKey("somebody");
  const keyed = await harness.connect("http://embedded.invalid", key);
  await harness.console.store.members.setLastConnection(harness.viewerOf("owner").memberId, keyed);
  tokens = {
    all: await makeToken(harness, "owner"),
    viewer: await makeToken(harness, "owner", { role: "viewer" }),
    reads: await makeToken(harness, "owner", { operations: "reads" }),
    other: await makeToken(harness, "owner", { operations: ["getFeatures"] }),
    elsewhere: await makeToken(harness, "owner", { connectionId: keyless, connectionIds: [keyless] }),
  };
  secrets = [key, ...Object.values(tokens).map(({ token }) => token), ...roles.map((role) => harness.cookieOf(role).split("=")[1] ?? "")];
});
afterAll(() => harness.dispose());

function ask(route: Route, headers: Record<string, string>, query = ""): Promise<Response> {
  const changes = route.method !== "GET" && route.method !== "HEAD";
  const multipart = route.path.startsWith("/api/upload") || (route.path === "/api/assets" && changes);
  const init = {
    method: route.method,
    headers: {
      host: HOST,
      ...(changes && { origin: `http://${HOST}`, "content-type": multipart ? "multipart/form-data; boundary=x" : "application/json" }),
      ...headers,
    },
    ...(changes && { body: multipart ? "--x--\r\n" : "{}" }),
  };
  return route.handler(new Request(`http://${HOST}${route.path}${query}`, init), context(route));
}

function paramsOf(file: string, path: string): Record<string, string | string[]> {
  const folders = file.slice(file.indexOf("/api/") + 1).split("/");
  const values = path.slice(1).split("/");
  return Object.fromEntries(
    folders.flatMap((folder, index): [string, string | string[]][] => {
      const name = folder.match(/^\[(?:\.\.\.)?(\w+)\]$/)?.[1];
      return name === undefined ? [] : [[name, folder.startsWith("[...") ? values.slice(index) : (values[index] ?? "")]];
    }),
  );
}

async function codeOf(answer: Response): Promise<unknown> {
  const text = await answer.text();
  return text === "" || !answer.headers.get("content-type")?.includes("json") ? undefined : JSON.parse(text).code;
}

test("every route file was found, and each of its handlers has a guard", () => {
  expect(listRouteFiles().length).toBeGreaterThan(35);
  expect(routes.filter((route) => route.guard === undefined).map(label)).toEqual([]);
});

test("each act that changes something has its words in the audit log", () => {
  const changes = closed.filter(({ method, file }) => method !== "GET" && method !== "HEAD" && !file.includes("[...unknown]"));
  const acts = changes.map(({ guard }) => guard?.action ?? "");
  const { does, tried } = messagesOf.en.settings.audit;
  expect(acts.length).toBeGreaterThan(50);
  expect(acts.filter((act) => !Object.hasOwn(does, act) || !Object.hasOwn(tried, act))).toEqual([]);
});

test("each of the core operations has a handler at the interface's own path", () => {
  const known = new Set(routes.map(({ method, guard }) => `${method} ${guard?.action}`));
  expect(coreOperations.length).toBeGreaterThanOrEqual(19);
  expect(coreOperations.filter(({ method, name }) => !known.has(`${method} ${name}`)).map(({ name }) => name)).toEqual([]);
});

test("only the routes that are named here are open", () => {
  expect(
    routes
      .filter((route) => route.guard?.role === "public" && !isAuth(route))
      .map(({ path }) => path)
      .sort(),
  ).toEqual([...open].sort());
});

const named = (some: readonly Route[]) => some.map((route) => [label(route), route] as const);
const isGet = ({ method }: Route) => method === "GET" || method === "HEAD";
const changing = closed.filter((route) => !isGet(route));
const calling = closed.filter(({ guard }) => guard?.connection);

/** Their parameters are too long for an address; at the service they only read. */
const readsByPost = ["POST /api/console/archive", "POST /api/console/jobs/export"];

test("a viewer can change nothing at a service", () => {
  expect(changing.filter(({ guard }) => guard?.connection && guard.role === "viewer").map(label)).toEqual(readsByPost);
});

test("whoever runs apps only is let in to apps, to their own account and tokens, and to nothing else", () => {
  const acts = closed.filter(({ guard }) => guard?.role === "runner").map(({ guard }) => guard?.action);
  const own = ["readAccount", "changeAccount", "confirmSession", "unlinkProvider", "listSessions", "endSessions", "endSession"];
  const apps = [
    "listApps",
    "readApp",
    "viewAppCover",
    "viewAppFile",
    "listAppPictures",
    "addAppFile",
    "addAppMask",
    "favourApp",
    "readAppOpenApi",
  ];
  const presets = ["listAppPresets", "addAppPreset", "changeAppPreset", "removeAppPreset"];
  const runs = ["runApp", "listAppRuns", "readAppRun", "cancelAppRun", "viewAppResult"];
  const others = ["createToken", "revokeToken", "useConnection", "embedLook", "endEmbedSession", "unknown"];
  expect([...new Set(acts)].sort()).toEqual([...own, ...apps, ...presets, ...runs, ...others].sort());
});

describe.each(named(closed))("%s", (_label, route) => {
  test("answers 401 without a session, and with one that somebody made up", async () => {
    const forged = await harness.mintCookie({ sub: harness.viewerOf("owner").memberId, version: 1 }, "another secret");
    const wrong = { "x-api-key": `ld_${"0".repeat(64)}`, "x-lightdesk-address": crypto.randomUUID() };
    const none: Record<string, string>[] = [
      {},
      { cookie: forged },
      { cookie: "lightdesk.session=nonsense" },
      wrong,
      { ...wrong, cookie: harness.cookieOf("owner") },
      { authorization: `Bearer ${harness.cookieOf("owner")}` },
    ];
    for (const headers of none) {
      const answer = await ask(route, headers);
      expect([headers, answer.status]).toEqual([headers, 401]);
      expect(["UNAUTHORIZED", undefined]).toContain(await codeOf(answer));
      expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="Lightdesk"');
    }
  });

  test("is open to a token only where it is not for people alone, with the role and the operations that it has", async () => {
    const { action = "", role: needed } = route.guard ?? {};
    if (needed === undefined || needed === "public") throw new Error("has no role");
    const codeFor = async ({ headers }: MadeToken) => codeOf(await ask(route, headers));
    expect((await codeFor(tokens.all)) === "FORBIDDEN").toBe(isForPeople(route));
    expect((await codeFor(tokens.viewer)) === "ROLE_TOO_LOW").toBe(!hasRole("viewer", needed));
    const changes = !isGet(route) && !readsByPost.includes(label(route));
    if (route.method !== "HEAD")
      expect((await codeFor(tokens.reads)) === "FORBIDDEN").toBe(isForPeople(route) || (changes && action !== "unknown"));
    const anyMay = ["getFeatures", "unknown", "readOpenApi", "listConnections"].includes(action);
    if (route.method !== "HEAD") expect((await codeFor(tokens.other)) === "FORBIDDEN").toBe(!anyMay);
    else expect((await ask(route, tokens.other.headers)).status).toBe(403);
  });

  test("answers 403 to every role below the one it needs, and not to that one", async () => {
    const needed = route.guard?.role;
    if (needed === undefined || needed === "public") throw new Error("has no role");
    for (const role of roles) {
      const answer = await ask(route, { cookie: harness.cookieOf(role) });
      // HEAD has no body for the code.
      const isRefused = route.method === "HEAD" ? answer.status === 403 : (await codeOf(answer)) === "ROLE_TOO_LOW";
      expect([role, isRefused]).toEqual([role, !hasRole(role, needed)]);
    }
  });

  test("never shows a key or a cookie: not in a body, not in a header, not in the log", async () => {
    const before = harness.log().length;
    const answer = await ask(route, { cookie: harness.cookieOf("owner") });
    const seen = [await answer.text(), JSON.stringify([...answer.headers]), harness.log().slice(before)].join("\n");
    expect(secrets.every((secret) => secret.length > 10)).toBe(true);
    expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cache-control")).toMatch(/no-store|private/);
    expect(answer.status).not.toBe(500);
  });
});

describe.each(named(changing))("%s", (_label, route) => {
  test("answers 403 to a page of another site", async () => {
    const cookie = harness.cookieOf("owner");
    const foreign: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `http://${HOST}:8080` },
      { origin: `http://${HOST}`, "sec-fetch-site": "cross-site" },
      { origin: "", "sec-fetch-site": "same-site" },
    ];
    for (const headers of foreign) {
      const answer = await ask(route, { cookie, ...headers });
      expect([headers, answer.status, await codeOf(answer)]).toEqual([headers, 403, "FOREIGN_ORIGIN"]);
      // No web page can send a token that it was not given.
      expect(await codeOf(await ask(route, { ...tokens.all.headers, cookie, ...headers }))).not.toBe("FOREIGN_ORIGIN");
    }
  });
});

describe.each(named(calling))("%s", (_label, route) => {
  test("answers 409 when the connection has no key", async () => {
    const answer = await ask(route, { cookie: harness.cookieOf("owner") }, `?connection=${keyless}`);
    expect(answer.status).toBe(409);
    expect(["API_KEY_MISSING", undefined]).toContain(await codeOf(answer));
  });

  test("answers 404 for a connection that the member may not use", async () => {
    const { store, now } = harness.console;
    const { memberId } = harness.viewerOf("operator");
    const theirs = await store.connections.create({ name: "Theirs", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now() });
    const answer = await ask(route, { cookie: harness.cookieOf("owner") }, `?connection=${theirs.id}`);
    await store.connections.remove(theirs.id);
    expect(answer.status).toBe(404);
  });

  test("answers 404 to a token for a connection that it was not made for", async () => {
    const answer = await ask(route, tokens.elsewhere.headers, "?connection=embedded");
    expect(answer.status).toBe(404);
    expect(["NOT_FOUND", undefined]).toContain(await codeOf(answer));
  });
});

test("a disabled member and a session from before a change of role are nobody at once", async () => {
  const cookie = harness.cookieOf("viewer");
  expect((await harness.request("/api/user", { cookie })).status).toBe(200);
  await harness.console.store.members.change(harness.viewerOf("viewer").memberId, { role: "operator" });
  expect((await harness.request("/api/user", { cookie })).status).toBe(401);
});
