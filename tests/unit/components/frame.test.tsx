import "@/components/ui/toast-stack";
import { act, render, renderHook, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { SignOutButton } from "@/components/frame/account/sign-out-button";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { ConnectionGuard } from "@/components/frame/connection/connection-guard";
import { ConnectionSwitch } from "@/components/frame/connection/connection-switch";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { Avatar } from "@/components/ui/card";
import { useCloseWarning } from "@/components/ui/hooks/page-events";
import { Toasts } from "@/components/ui/toasts";
import { notifyResponse } from "@/lib/browser/api";
import { createFakeRouter, PageProvider } from "@/tests/support/page-provider";
import { until } from "@/tests/support/until";
import { renderInApp } from "./render";
import { press } from "./render-screen";

it.each([
  ["Ada Lovelace", "AL"],
  ["ada", "A"],
  ["(Ada) de la Cruz-King", "AK"],
  ["王小明", "王"],
  ["e\u0301mile zola", "E\u0301Z"],
  ["grace.hopper@example.com", "GC"],
  ["***", ""],
])("shows %s as %s and hides it from screen readers", (name, initials) => {
  const { container } = render(<Avatar name={name} />);
  expect(container.textContent).toBe(initials);
  expect(container.firstElementChild?.getAttribute("aria-hidden")).toBe("true");
});

const renderGuard = (pathname: string, search: string, hasConnection = true) => {
  const connections = hasConnection ? [{ id: "home", name: "Studio", embedded: true }] : [];
  renderInApp(
    <PageProvider pathname={pathname} search={new URLSearchParams(search)}>
      <ConnectionProvider currentId={connections[0]?.id} connections={connections}>
        <ConnectionGuard>the page</ConnectionGuard>
      </ConnectionProvider>
    </PageProvider>,
  );
};

it("explains an unknown connection and links to the current one", async () => {
  renderGuard("/jobs", "status=failed&connection=ghost");
  expect(await screen.findByRole("heading", { name: "You have no access to this connection" })).toBeDefined();
  expect(screen.getByRole("link", { name: "Open on Studio" }).getAttribute("href")).toBe("/jobs?status=failed");
  expect(screen.queryByText("the page")).toBeNull();
});

it("links to Settings when there is no connection", async () => {
  renderGuard("/queue", "connection=ghost", false);
  expect((await screen.findByRole("link", { name: "Open settings" })).getAttribute("href")).toBe("/settings");
});

it.each([
  ["/jobs", "connection=home"],
  ["/settings/members", "connection=ghost"],
])("shows the page at %s?%s", (pathname, search) => {
  renderGuard(pathname, search);
  expect(screen.getByText("the page")).toBeDefined();
});

it.each([
  ["/docs/api", "/docs/api"],
  ["/settings/members", "/settings/members"],
  ["/jobs/abc", "/jobs"],
])("switches the connection on %s and opens %s", async (pathname, openedPath) => {
  vi.stubGlobal("fetch", async () => new Response(null, { status: 204 }));
  const push = vi.fn();
  const baseConnection = {
    baseUrl: "",
    embedded: true,
    shared: true,
    dialect: "interface" as const,
    hasAssets: true,
    lacks: [],
    hasKey: true,
  };
  const connections = ["home", "other"].map((id) => ({ ...baseConnection, id, name: id, current: id === "home" }));
  renderInApp(
    <PageProvider router={createFakeRouter(push)} pathname={pathname} search={new URLSearchParams()}>
      <ConnectionSwitch connections={connections} currentId="home" onClose={() => undefined} />
    </PageProvider>,
  );
  await press(/^other/);
  expect(push).toHaveBeenCalledWith(openedPath);
});

describe("sign out", () => {
  let requests: string[];
  /** Rejects the sign-out request, so that the page stays open for the test. */
  let rejectSignOut: () => void;
  beforeEach(() => {
    requests = [];
    vi.stubGlobal("fetch", async (path: string) => {
      requests.push(path);
      if (path.endsWith("/csrf")) return Response.json({ csrfToken: "t" });
      await new Promise<void>((resolve) => (rejectSignOut = resolve));
      return Response.json({}, { status: 503 });
    });
  });

  function Frame({ isUnfinished }: { isUnfinished: boolean }) {
    useCloseWarning(isUnfinished);
    return (
      <>
        <SignOutButton />
        <Toasts />
      </>
    );
  }
  const waitForSignOut = () => until("the sign-out request", () => requests.some((path) => path.endsWith("/signout")));

  test("asks for confirmation when signing out would end running work", async () => {
    renderInApp(<Frame isUnfinished />);
    await press("Sign out");
    expect(requests).toEqual([]);
    expect(screen.getByText(/^Unfinished work/)).toBeTruthy();
    await press("Sign out anyway");
    await waitForSignOut();
    const hasCloseWarning = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    expect(hasCloseWarning()).toBe(false);
    // Signing out failed, so the page warns about unsaved work again.
    rejectSignOut();
    await screen.findByText(/^Couldn't sign out/);
    expect(hasCloseWarning()).toBe(true);
  });

  test("signs out without confirmation when nothing would be lost", async () => {
    renderInApp(<Frame isUnfinished={false} />);
    await press("Sign out");
    await waitForSignOut();
  });
});

const mockCapabilities = (capabilities: Readonly<Record<string, boolean | null>>) =>
  vi.stubGlobal("fetch", async (path: string) => {
    const connection = new URL(path, "http://console").searchParams.get("connection") ?? "";
    return connection in capabilities ? Response.json({ "assets.edit": capabilities[connection] }) : new Promise(() => undefined);
  });
const renderCapabilities = (initialConnection: string) =>
  renderHook(({ connection }) => useCapabilities(connection, ["assets.edit"]), { initialProps: { connection: initialConnection } });

it("returns no capabilities of another service when the connection changes", async () => {
  mockCapabilities({ whole: true });
  const { result, rerender } = renderCapabilities("whole");
  expect(result.current.has("assets.edit")).toBeUndefined();
  await waitFor(() => expect(result.current.has("assets.edit")).toBe(true));
  rerender({ connection: "silent" });
  expect([result.current.has("assets.edit"), result.current.isLoading]).toEqual([undefined, true]);
});

it("removes a capability only when its own service returns NOT_IMPLEMENTED", async () => {
  mockCapabilities({ older: true, unknown: null });
  const [first, second] = [renderCapabilities("older"), renderCapabilities("older")];
  await waitFor(() => expect(first.result.current.has("assets.edit")).toBe(true));
  const reportFailure = (code: string, status: number, connection: string) => {
    const failure = { code, message: "", status, details: { capability: "assets.edit" } };
    act(() => notifyResponse({ path: `/api/assets/a?connection=${connection}`, method: "PUT", status, failure }));
  };
  reportFailure("NOT_FOUND", 404, "older");
  reportFailure("NOT_IMPLEMENTED", 501, "another");
  expect(first.result.current.has("assets.edit")).toBe(true);
  reportFailure("NOT_IMPLEMENTED", 501, "older");
  for (const { result } of [first, second])
    expect([result.current.has("assets.edit"), result.current.isRefused("assets.edit")]).toEqual([false, true]);
  const unknownCapability = renderCapabilities("unknown");
  await waitFor(() => expect(unknownCapability.result.current.isLoading).toBe(false));
  expect(unknownCapability.result.current.has("assets.edit")).toBeUndefined();
});
