// Generated for every route file in app/api, so that new routes are tested automatically.
import { describe, expect, test } from "vitest";
import { hasRole, roles } from "@/lib/contract/members/roles";
import { coreOperations } from "@/lib/contract/operations";
import { createHarness, HOST } from "@/tests/support/harness";
import { listRouteFiles, loadRoutes, type Route } from "@/tests/support/routes";
import { createAccessToken, type CreatedToken } from "@/tests/support/tokens";
import { callRoute, getLabel, ID, isRead, withLabels } from "./route-requests";

const routes = await loadRoutes();

/** Routes that need no session. Each has its own guard, which other tests cover. */
const sharePaths = [ID, `${ID}/${ID}`, "unlock", "workflow"].map((path) => `/api/share/${ID}/${path}`);
const publicPaths = new Set([
  "/api/embed/check",
  "/api/embed/tickets",
  "/api/health",
  "/api/console/session",
  "/api/console/set-up",
  "/api/console/members/invitations/accept",
  ...sharePaths,
]);
const isAuthRoute = (route: Route) => route.path.startsWith("/api/auth/");
const protectedRoutes = routes.filter((route) => !publicPaths.has(route.path) && !isAuthRoute(route));

/** Other routes closed to tokens, because they expose personal data or can send a stored key anywhere. */
const sessionOnlyActions = new Set([
  ...["listAppPeople", "listEmbedHosts", "addEmbedHost", "changeEmbedHost", "removeEmbedHost", "embedLook", "endEmbedSession"],
  ...["readAccount", "listMembers", "listInvitations", "withdrawInvitation", "listRunners"],
  ...["checkConnection", "useConnection", "giveJobsView", "takeJobsView"],
  ...["exportUsage", "readUsage", "createShare", "listShares", "revokeShare"],
  ...["listSavedViews", "createSavedView", "changeSavedView", "removeSavedView"],
  ...["createApp", "importApp", "changeApp", "removeApp", "restoreApp", "favourApp", "addAppPreset", "changeAppPreset", "removeAppPreset"],
]);
const isSessionOnly = ({ guard }: Route) =>
  (guard?.needsRecentSignIn ?? guard?.needsSession ?? sessionOnlyActions.has(guard?.action ?? "")) === true;
const harness = await createHarness();
const keylessConnection = await harness.connect("http://127.0.0.1:9", undefined);
const { key } = await harness.console.serviceKeys().createKey("somebody");
const keyedConnection = await harness.connect("http://embedded.invalid", key);
await harness.console.store.members.setLastConnection(harness.getViewer("owner").memberId, keyedConnection);
const tokens = {
  all: await createAccessToken(harness, "owner"),
  viewer: await createAccessToken(harness, "owner", { role: "viewer" }),
  reads: await createAccessToken(harness, "owner", { operations: "reads" }),
  other: await createAccessToken(harness, "owner", { operations: ["getFeatures"] }),
  otherConnection: await createAccessToken(harness, "owner", { connectionId: keylessConnection, connectionIds: [keylessConnection] }),
};
const asOwner = { headers: { cookie: harness.getCookie("owner") } };
const secrets = [
  key,
  ...Object.values(tokens).map(({ token }) => token),
  ...roles.map((role) => harness.getCookie(role).split("=")[1] ?? ""),
];

async function getCode(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === "" || !response.headers.get("content-type")?.includes("json") ? undefined : JSON.parse(text).code;
}

test("finds every route file and a guard for each handler", () => {
  expect(listRouteFiles().length).toBeGreaterThan(35);
  expect(routes.filter((route) => route.guard === undefined).map(getLabel)).toEqual([]);
});

test("has a handler for each core operation at the interface's path", () => {
  const routeKeys = new Set(routes.map(({ method, guard }) => `${method} ${guard?.action}`));
  expect(coreOperations.length).toBeGreaterThanOrEqual(19);
  expect(coreOperations.filter(({ method, name }) => !routeKeys.has(`${method} ${name}`)).map(({ name }) => name)).toEqual([]);
});

test("opens only the listed routes", () => {
  expect(
    routes
      .filter((route) => route.guard?.role === "public" && !isAuthRoute(route))
      .map(({ path }) => path)
      .sort(),
  ).toEqual([...publicPaths].sort());
});

const mutatingRoutes = protectedRoutes.filter((route) => !isRead(route));
const connectionRoutes = protectedRoutes.filter(({ guard }) => guard?.needsConnection);

/** These only read at the service, but their parameters are too long for a URL. */
const readsByPost = ["POST /api/console/archive", "POST /api/console/jobs/export"];

test("allows viewers no POST requests to a service except reads", () => {
  expect(mutatingRoutes.filter(({ guard }) => guard?.needsConnection && guard.role === "viewer").map(getLabel)).toEqual(readsByPost);
});

test("limits app runners to apps and their own account and tokens", () => {
  const actions = protectedRoutes.filter(({ guard }) => guard?.role === "runner").map(({ guard }) => guard?.action);
  const ownActions = ["readAccount", "changeAccount", "confirmSession", "unlinkProvider", "listSessions", "endSessions", "endSession"];
  const apps = ["listApps", "readApp", "favourApp", "readAppOpenApi"];
  const appFiles = ["viewAppCover", "viewAppFile", "listAppPictures", "addAppFile", "addAppMask"];
  const presets = ["listAppPresets", "addAppPreset", "changeAppPreset", "removeAppPreset"];
  const runs = ["runApp", "listAppRuns", "readAppRun", "cancelAppRun", "viewAppResult"];
  const otherActions = ["createToken", "revokeToken", "useConnection", "embedLook", "endEmbedSession", "unknown", "events"];
  expect([...new Set(actions)].sort()).toEqual([...ownActions, ...apps, ...appFiles, ...presets, ...runs, ...otherActions].sort());
});

describe.each(withLabels(protectedRoutes))("%s", (_label, route) => {
  test("returns 401 without a session or with a forged one", async () => {
    const forged = await harness.mintCookie({ sub: harness.getViewer("owner").memberId, version: 1 }, "another secret");
    const wrongHeaders = { "x-api-key": `ld_${"0".repeat(64)}`, "x-lightdesk-address": crypto.randomUUID() };
    const rejectedHeaders: Record<string, string>[] = [
      {},
      { cookie: forged },
      { cookie: "lightdesk.session=nonsense" },
      wrongHeaders,
      { ...wrongHeaders, cookie: harness.getCookie("owner") },
      { authorization: `Bearer ${harness.getCookie("owner")}` },
    ];
    for (const headers of rejectedHeaders) {
      const response = await callRoute(route, { headers });
      expect([headers, response.status]).toEqual([headers, 401]);
      expect(["UNAUTHORIZED", undefined]).toContain(await getCode(response));
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="Lightdesk"');
    }
  });

  test("accepts a token only for its role and operations", async () => {
    const { action = "", role: requiredRole } = route.guard ?? {};
    if (requiredRole === undefined || requiredRole === "public") throw new Error("has no role");
    const codeFor = async ({ headers }: CreatedToken) => getCode(await callRoute(route, { headers }));
    expect((await codeFor(tokens.all)) === "FORBIDDEN").toBe(isSessionOnly(route));
    expect((await codeFor(tokens.viewer)) === "ROLE_TOO_LOW").toBe(!hasRole("viewer", requiredRole));
    const isMutation = !isRead(route) && !readsByPost.includes(getLabel(route));
    if (route.method !== "HEAD")
      expect((await codeFor(tokens.reads)) === "FORBIDDEN").toBe(isSessionOnly(route) || (isMutation && action !== "unknown"));
    const isAlwaysAllowed = ["getFeatures", "unknown", "readOpenApi", "listConnections"].includes(action);
    if (route.method !== "HEAD") expect((await codeFor(tokens.other)) === "FORBIDDEN").toBe(!isAlwaysAllowed);
    else expect((await callRoute(route, { headers: tokens.other.headers })).status).toBe(403);
  });

  test("returns 403 only to roles below the required one", async () => {
    const requiredRole = route.guard?.role;
    if (requiredRole === undefined || requiredRole === "public") throw new Error("has no role");
    for (const role of roles) {
      const response = await callRoute(route, { headers: { cookie: harness.getCookie(role) } });
      // HEAD has no body for the code.
      const isRefused = route.method === "HEAD" ? response.status === 403 : (await getCode(response)) === "ROLE_TOO_LOW";
      expect([role, isRefused]).toEqual([role, !hasRole(role, requiredRole)]);
    }
  });

  test("never exposes a key or cookie in a body, header or log", async () => {
    const before = harness.getLog().length;
    const response = await callRoute(route, asOwner);
    const responseText = [await response.text(), JSON.stringify([...response.headers]), harness.getLog().slice(before)].join("\n");
    expect(secrets.every((secret) => secret.length > 10)).toBe(true);
    expect(secrets.filter((secret) => responseText.includes(secret))).toEqual([]);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cache-control")).toMatch(/no-store|private/);
    expect(response.status).not.toBe(500);
  });
});

describe.each(withLabels(mutatingRoutes))("%s", (_label, route) => {
  test("returns 403 to cross-site requests", async () => {
    const crossSiteHeaders: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `http://${HOST}:8080` },
      { origin: `http://${HOST}`, "sec-fetch-site": "cross-site" },
      { origin: "", "sec-fetch-site": "same-site" },
    ];
    for (const headers of crossSiteHeaders) {
      const response = await callRoute(route, { headers: { ...asOwner.headers, ...headers } });
      expect([headers, response.status, await getCode(response)]).toEqual([headers, 403, "FOREIGN_ORIGIN"]);
      // Web pages can't send tokens that they don't have.
      const withToken = await callRoute(route, { headers: { ...asOwner.headers, ...tokens.all.headers, ...headers } });
      expect(await getCode(withToken)).not.toBe("FOREIGN_ORIGIN");
      expect(withToken.headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

describe.each(withLabels(connectionRoutes))("%s", (_label, route) => {
  test("returns 409 when the connection has no key", async () => {
    const response = await callRoute(route, { ...asOwner, query: `?connection=${keylessConnection}` });
    expect(response.status).toBe(409);
    expect(["API_KEY_MISSING", undefined]).toContain(await getCode(response));
  });

  test("returns 404 for another member's private connection", async () => {
    const { store, now } = harness.console;
    const { memberId } = harness.getViewer("operator");
    const otherConnection = await store.connections.create({ name: "Theirs", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now() });
    const response = await callRoute(route, { ...asOwner, query: `?connection=${otherConnection.id}` });
    await store.connections.remove(otherConnection.id);
    expect(response.status).toBe(404);
  });

  test("returns 404 to a token made for another connection", async () => {
    const response = await callRoute(route, { headers: tokens.otherConnection.headers, query: "?connection=embedded" });
    expect(response.status).toBe(404);
    expect(["NOT_FOUND", undefined]).toContain(await getCode(response));
  });
});
