import "@/components/ui/toast-stack";
import { act, fireEvent, render, renderHook, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { SignOutButton } from "@/components/frame/account/sign-out-button";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { ConnectionGuard } from "@/components/frame/connection/connection-guard";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { Avatar } from "@/components/ui/card";
import { useCloseWarning } from "@/components/ui/hooks/page-events";
import { Toasts } from "@/components/ui/toasts";
import { notifyResponse } from "@/lib/browser/api";
import { AtPage } from "@/tests/support/at-page";
import { until } from "@/tests/support/until";
import { renderInApp } from "./render";

it.each([
  ["Ada Lovelace", "AL"],
  ["ada", "A"],
  ["(Ada) de la Cruz-King", "AK"],
  ["王小明", "王"],
  ["e\u0301mile zola", "E\u0301Z"],
  ["grace.hopper@example.com", "GC"],
  ["***", ""],
])("marks %s by %s, hidden from screen readers", (name, initials) => {
  const { container } = render(<Avatar name={name} />);
  expect(container.textContent).toBe(initials);
  expect(container.firstElementChild?.getAttribute("aria-hidden")).toBe("true");
});

const home = { id: "home", name: "Studio", embedded: true };
const renderFrame = (pathname: string, search: string, connections = [home]) =>
  renderInApp(
    <AtPage pathname={pathname} search={new URLSearchParams(search)}>
      <ConnectionProvider currentId={connections[0]?.id} connections={connections}>
        <ConnectionGuard>the page</ConnectionGuard>
      </ConnectionProvider>
    </AtPage>,
  );

it("explains an unknown connection and links to the one in use", async () => {
  renderFrame("/jobs", "status=failed&connection=ghost");
  expect(await screen.findByRole("heading", { name: "You have no access to this connection" })).toBeDefined();
  expect(screen.getByRole("link", { name: "Open on Studio" }).getAttribute("href")).toBe("/jobs?status=failed");
  expect(screen.queryByText("the page")).toBeNull();
});

it("leads to Settings where there is no connection at all", async () => {
  renderFrame("/queue", "connection=ghost", []);
  expect((await screen.findByRole("link", { name: "Open settings" })).getAttribute("href")).toBe("/settings");
});

it.each([
  ["/jobs", ""],
  ["/jobs", "connection=home"],
  ["/settings/members", "connection=ghost"],
])("shows %s?%s as it is", (pathname, search) => {
  renderFrame(pathname, search);
  expect(screen.getByText("the page")).toBeDefined();
});

describe("sign out", () => {
  let requests: string[];
  /** Signing out is refused, so that the page stays open for the test. */
  let refuse: () => void;
  beforeEach(() => {
    requests = [];
    vi.stubGlobal("fetch", async (path: string) => {
      requests.push(path);
      if (path.endsWith("/csrf")) return Response.json({ csrfToken: "t" });
      await new Promise<void>((resolve) => (refuse = resolve));
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
  const press = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
  const isSignedOut = () => requests.some((path) => path.endsWith("/signout"));

  test("confirms once before signing out ends running work", async () => {
    renderInApp(<Frame isUnfinished />);
    await press("Sign out");
    expect(requests).toEqual([]);
    expect(screen.getByText(/^Unfinished work/)).toBeTruthy();
    await press("Sign out anyway");
    await until("the session is ended", isSignedOut);
    const warnsOnLeaving = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    expect(warnsOnLeaving()).toBe(false);
    // The session could not be ended, so unsaved work is guarded again.
    refuse();
    await screen.findByText(/^Couldn't sign out/);
    expect(warnsOnLeaving()).toBe(true);
  });

  test("signs out without confirmation when nothing would be lost", async () => {
    renderInApp(<Frame isUnfinished={false} />);
    await press("Sign out");
    await until("the session is ended", isSignedOut);
  });
});

const hasIn = (answers: Readonly<Record<string, boolean | null>>) =>
  vi.stubGlobal("fetch", async (path: string) => {
    const connection = new URL(path, "http://console").searchParams.get("connection") ?? "";
    return connection in answers ? Response.json({ "assets.edit": answers[connection] }) : new Promise(() => undefined);
  });
const renderCapabilities = (first: string) =>
  renderHook(({ connection }) => useCapabilities(connection, ["assets.edit"]), { initialProps: { connection: first } });

it("keeps capabilities of two services apart", async () => {
  hasIn({ whole: true });
  const { result, rerender } = renderCapabilities("whole");
  expect(result.current.has("assets.edit")).toBeUndefined();
  await waitFor(() => expect(result.current.has("assets.edit")).toBe(true));
  rerender({ connection: "silent" });
  expect([result.current.has("assets.edit"), result.current.isLoading]).toEqual([undefined, true]);
});

it("hides an absent capability everywhere after its refusal only", async () => {
  hasIn({ older: true, unknown: null });
  const [first, second] = [renderCapabilities("older"), renderCapabilities("older")];
  await waitFor(() => expect(first.result.current.has("assets.edit")).toBe(true));
  const refuse = (code: string, status: number, connection: string) => {
    const failure = { code, message: "", status, details: { capability: "assets.edit" } };
    act(() => notifyResponse({ path: `/api/assets/a?connection=${connection}`, method: "PUT", status, failure }));
  };
  refuse("NOT_FOUND", 404, "older");
  refuse("NOT_IMPLEMENTED", 501, "another");
  expect(first.result.current.has("assets.edit")).toBe(true);
  refuse("NOT_IMPLEMENTED", 501, "older");
  for (const { result } of [first, second])
    expect([result.current.has("assets.edit"), result.current.isRefused("assets.edit")]).toEqual([false, true]);
  const unknown = renderCapabilities("unknown");
  await waitFor(() => expect(unknown.result.current.isLoading).toBe(false));
  expect(unknown.result.current.has("assets.edit")).toBeUndefined();
});
