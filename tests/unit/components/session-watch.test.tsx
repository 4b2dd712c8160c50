// One banner explains why the session ended and what to do.
import { act, screen } from "@testing-library/react";
import { type ReactNode } from "react";
import { SWRConfig } from "swr";
import { beforeEach, expect, it, vi } from "vitest";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { MemberProvider } from "@/components/frame/member-context";
import { SessionWatch } from "@/components/frame/session-watch";
import { callApi, notifyResponse } from "@/lib/browser/api";
import { type LiveMessage } from "@/lib/browser/live/live-tab";
import { liveModule, useLive } from "@/lib/browser/live/use-live";
import { type SessionState } from "@/lib/contract/console";
import { advanceTime, renderScreen } from "./render-screen";

const liveSession = { state: "live", memberId: "ada", role: "operator", canChange: true } as const;
let session: SessionState;
beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  session = liveSession;
  vi.stubGlobal("fetch", async () => Response.json(session));
});

const showUncached = (children: ReactNode, refresh: () => undefined = () => undefined) =>
  renderScreen(<SWRConfig value={{ provider: () => new Map() }}>{children}</SWRConfig>, { router: { refresh } });
const createWatch = (children: ReactNode) => (
  <SessionWatch memberId="ada" role="operator">
    {children}
  </SessionWatch>
);
const showBanner = () =>
  showUncached(createWatch(<FailureMessage failure={{ code: "UNAUTHORIZED", message: "" }} onRetry={() => undefined} />));
const advanceFiveSeconds = () => advanceTime(5_000);

it.each<[SessionState, string, string | undefined]>([
  [{ state: "ended", cause: "expired" }, "Your session has expired", "Sign in again"],
  [{ state: "ended", cause: "ended" }, "This session was ended elsewhere", "Sign in again"],
  [{ state: "ended", cause: "password" }, "Your password was changed", "Sign in again"],
  [{ state: "ended", cause: "signed-out" }, "You are signed out in this browser", "Sign in again"],
  [{ state: "ended", cause: "role", from: "operator", to: "viewer" }, "Your role changed from operator to viewer", "Sign in again"],
  [{ state: "ended", cause: "suspended" }, "Your account is suspended", undefined],
  [{ state: "ended", cause: "removed" }, "You were removed from this team", undefined],
  [{ ...liveSession, role: "viewer" }, "Your role changed from operator to viewer", "Reload"],
  [{ ...liveSession, memberId: "bob" }, "This browser is now signed in as another member", "Reload"],
])("shows a banner for %j within 5 seconds until the next sign-in", async (next, title, action) => {
  await showBanner();
  expect(screen.queryByRole("alert")).toBeNull();
  session = next;
  await advanceFiveSeconds();
  expect((await screen.findByRole("alert")).textContent).toContain(title);
  const actions = [...screen.queryAllByRole("button"), ...screen.queryAllByRole("link")].map(({ textContent }) => textContent);
  expect(actions).toEqual(action === undefined ? [] : [action]);
  session = liveSession;
  await advanceFiveSeconds();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("links to sign-in in a new tab when the session has ended", async () => {
  session = { state: "ended", cause: "expired" };
  await showBanner();
  const link = await screen.findByRole("link", { name: "Sign in again" });
  expect([link.getAttribute("href"), link.getAttribute("target")]).toEqual(["/sign-in?callbackUrl=%2Fconfirmed", "_blank"]);
});

const showMember = (canChange: boolean, refresh: () => undefined) =>
  showUncached(
    <MemberProvider role="operator" canChange={canChange}>
      {createWatch(null)}
    </MemberProvider>,
    refresh,
  );

it("refreshes the page when read-only mode starts or ends", async () => {
  const refresh = vi.fn();
  const { unmount } = await showMember(true, refresh);
  expect(refresh).not.toHaveBeenCalled();
  session = { ...liveSession, canChange: false };
  await act(async () => notifyResponse({ path: "/api/prompt", method: "POST", status: 403 }));
  expect(refresh).toHaveBeenCalledOnce();
  unmount();
  await showMember(false, refresh);
  await advanceFiveSeconds();
  expect(refresh).toHaveBeenCalledOnce();
  session = liveSession;
  await advanceFiveSeconds();
  expect(refresh.mock.calls.length).toBeGreaterThan(1);
});

function fetchOnce<Data>(path: `/${string}`, receive: (message: LiveMessage<Data>) => void): () => void {
  void callApi<Data>(path).then((result) => receive(result.ok ? { response: result.value } : { failure: result.failure }));
  return () => undefined;
}

it("refreshes the page when only its read-only mode is outdated", async () => {
  vi.spyOn(liveModule, "load").mockResolvedValue({ watchLive: fetchOnce, restartLive: () => undefined });
  const refresh = vi.fn();
  await showMember(false, refresh);
  await advanceFiveSeconds();
  expect(refresh.mock.calls.length).toBeGreaterThan(1);
});

it("offers a reload when an embedded session has ended", async () => {
  session = { state: "ended", cause: "expired" };
  await showUncached(<SessionWatch role="operator">{null}</SessionWatch>);
  expect(await screen.findByRole("button", { name: "Reload" })).toBeDefined();
});

it("pauses requests and the stream while the session has ended", async () => {
  const watchedPaths = new Set<string>();
  const restartLive = vi.fn();
  const { watchLive } = await liveModule.load();
  const watchAndRecord = <Data,>(path: `/${string}`, receive: (message: LiveMessage<Data>) => void) => {
    const stop = watchLive(path, receive);
    watchedPaths.add(path);
    return () => {
      watchedPaths.delete(path);
      stop();
    };
  };
  vi.spyOn(liveModule, "load").mockResolvedValue({ watchLive: watchAndRecord, restartLive });
  const paths: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    paths.push(path);
    if (path !== "/api/console/session" && session.state === "ended") return Response.json({}, { status: 401 });
    return Response.json(session);
  });
  const takeOtherPaths = () => paths.splice(0).filter((path) => path !== "/api/console/session");
  await showUncached(createWatch(<LiveJobs />));
  await advanceFiveSeconds();
  expect(takeOtherPaths().length).toBeGreaterThan(0);
  session = { state: "ended", cause: "expired" };
  await advanceFiveSeconds();
  await screen.findByRole("alert");
  takeOtherPaths();
  await advanceTime(30_000);
  expect(takeOtherPaths()).toEqual([]);
  // The console would refuse the stream with 401.
  expect([[...watchedPaths], restartLive.mock.calls]).toEqual([[], []]);
  session = liveSession;
  await advanceFiveSeconds();
  expect(takeOtherPaths()).toContain("/api/jobs");
  expect(watchedPaths).toEqual(new Set(["/api/console/session", "/api/jobs"]));
  expect(restartLive).toHaveBeenCalledOnce();
});

const identity = (value: unknown) => value;
function LiveJobs() {
  useLive("/api/jobs", { read: identity });
  return null;
}
