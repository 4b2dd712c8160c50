// One banner explains why the session ended and what to do.
import { act, screen } from "@testing-library/react";
import { SWRConfig } from "swr";
import { beforeEach, expect, it, vi } from "vitest";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { MemberProvider } from "@/components/frame/member-context";
import { SessionWatch } from "@/components/frame/session-watch";
import { callApi, notifyResponse } from "@/lib/browser/api";
import { type LiveMessage } from "@/lib/browser/live/live-client";
import { liveModule, useLive } from "@/lib/browser/live/use-live";
import { type SessionState } from "@/lib/contract/console";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "./render";

const live = { state: "live", memberId: "ada", role: "operator", canChange: true } as const;
let now: SessionState;
beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  now = live;
  vi.stubGlobal("fetch", async () => Response.json(now));
});

const show = () =>
  act(async () =>
    renderInApp(
      <AtPage>
        <SWRConfig value={{ provider: () => new Map() }}>
          <SessionWatch memberId="ada" role="operator">
            <FailureMessage failure={{ code: "UNAUTHORIZED", message: "" }} onRetry={() => undefined} />
          </SessionWatch>
        </SWRConfig>
      </AtPage>,
    ),
  );
const fiveSeconds = () => act(() => vi.advanceTimersByTimeAsync(5_000));

it.each<[SessionState, string, string | undefined]>([
  [{ state: "ended", cause: "expired" }, "Your session has expired", "Sign in again"],
  [{ state: "ended", cause: "ended" }, "This session was ended elsewhere", "Sign in again"],
  [{ state: "ended", cause: "password" }, "Your password was changed", "Sign in again"],
  [{ state: "ended", cause: "signed-out" }, "You are signed out in this browser", "Sign in again"],
  [{ state: "ended", cause: "role", from: "operator", to: "viewer" }, "Your role changed from operator to viewer", "Sign in again"],
  [{ state: "ended", cause: "suspended" }, "Your account is suspended", undefined],
  [{ state: "ended", cause: "removed" }, "You were removed from this team", undefined],
  [{ ...live, role: "viewer" }, "Your role changed from operator to viewer", "Reload"],
  [{ ...live, memberId: "bob" }, "This browser is now signed in as another member", "Reload"],
])("shows one banner for %j within five seconds, and none after a new sign-in", async (next, title, action) => {
  await show();
  expect(screen.queryByRole("alert")).toBeNull();
  now = next;
  await fiveSeconds();
  expect((await screen.findByRole("alert")).textContent).toContain(title);
  const offered = [...screen.queryAllByRole("button"), ...screen.queryAllByRole("link")].map(({ textContent }) => textContent);
  expect(offered).toEqual(action === undefined ? [] : [action]);
  now = live;
  await fiveSeconds();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("signs in again in a new tab and keeps typed values", async () => {
  now = { state: "ended", cause: "expired" };
  await show();
  const link = await screen.findByRole("link", { name: "Sign in again" });
  expect([link.getAttribute("href"), link.getAttribute("target")]).toEqual(["/sign-in?callbackUrl=%2Fconfirmed", "_blank"]);
});

it("rerenders within five seconds or on a refusal when read-only mode starts", async () => {
  const refresh = vi.fn();
  const page = (canChange: boolean) => (
    <AtPage router={{ refresh }}>
      <SWRConfig value={{ provider: () => new Map() }}>
        <MemberProvider role="operator" canChange={canChange}>
          <SessionWatch memberId="ada" role="operator">
            {null}
          </SessionWatch>
        </MemberProvider>
      </SWRConfig>
    </AtPage>
  );
  const { unmount } = await act(async () => renderInApp(page(true)));
  expect(refresh).not.toHaveBeenCalled();
  now = { ...live, canChange: false };
  await act(async () => notifyResponse({ path: "/api/prompt", method: "POST", status: 403 }));
  expect(refresh).toHaveBeenCalledOnce();
  unmount();
  await act(async () => renderInApp(page(false)));
  await fiveSeconds();
  expect(refresh).toHaveBeenCalledOnce();
  now = live;
  await fiveSeconds();
  expect(refresh.mock.calls.length).toBeGreaterThan(1);
});

function deliverOnce<Data>(path: `/${string}`, receive: (message: LiveMessage<Data>) => void): () => void {
  void callApi<Data>(path).then((result) => receive(result.ok ? { answer: result.value } : { failure: result.failure }));
  return () => undefined;
}

it("rerenders until the page is current, though the session is unchanged", async () => {
  vi.spyOn(liveModule, "load").mockResolvedValue({ watchLive: deliverOnce, restartLive: () => undefined });
  const refresh = vi.fn();
  await act(async () =>
    renderInApp(
      <AtPage router={{ refresh }}>
        <SWRConfig value={{ provider: () => new Map() }}>
          <MemberProvider role="operator" canChange={false}>
            <SessionWatch memberId="ada" role="operator">
              {null}
            </SessionWatch>
          </MemberProvider>
        </SWRConfig>
      </AtPage>,
    ),
  );
  await fiveSeconds();
  expect(refresh.mock.calls.length).toBeGreaterThan(1);
});

it("offers an embedded page to reload", async () => {
  now = { state: "ended", cause: "expired" };
  await act(async () =>
    renderInApp(
      <SWRConfig value={{ provider: () => new Map() }}>
        <SessionWatch role="operator">{null}</SessionWatch>
      </SWRConfig>,
    ),
  );
  expect(await screen.findByRole("button", { name: "Reload" })).toBeDefined();
});

it("pauses requests and the stream while the session has ended and resumes them", async () => {
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
    if (path !== "/api/console/session" && now.state === "ended") return Response.json({}, { status: 401 });
    return Response.json(now);
  });
  const otherPaths = () => paths.splice(0).filter((path) => path !== "/api/console/session");
  await act(async () =>
    renderInApp(
      <SWRConfig value={{ provider: () => new Map() }}>
        <SessionWatch memberId="ada" role="operator">
          <LiveJobs />
        </SessionWatch>
      </SWRConfig>,
    ),
  );
  await fiveSeconds();
  expect(otherPaths().length).toBeGreaterThan(0);
  now = { state: "ended", cause: "expired" };
  await fiveSeconds();
  await screen.findByRole("alert");
  otherPaths();
  await act(() => vi.advanceTimersByTimeAsync(30_000));
  expect(otherPaths()).toEqual([]);
  // The console would refuse the stream with 401.
  expect([[...watchedPaths], restartLive.mock.calls]).toEqual([[], []]);
  now = live;
  await fiveSeconds();
  expect(otherPaths()).toContain("/api/jobs");
  expect(watchedPaths).toEqual(new Set(["/api/console/session", "/api/jobs"]));
  expect(restartLive).toHaveBeenCalledOnce();
});

const itself = (value: unknown) => value;
function LiveJobs() {
  useLive("/api/jobs", { read: itself });
  return null;
}
