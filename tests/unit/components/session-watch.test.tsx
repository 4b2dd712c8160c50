// @vitest-environment jsdom
// One banner tells an open page why its session ended, and what to do.
import { act, cleanup, screen } from "@testing-library/react";
import { SWRConfig } from "swr";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { MemberProvider } from "@/components/frame/member-context";
import { SessionWatch } from "@/components/frame/session-watch";
import { announceAnswer } from "@/lib/browser/api";
import { usePoll } from "@/lib/browser/poll/use-poll";
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
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
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
  [{ ...live, memberId: "bob" }, "Another member is signed in in this browser", "Reload"],
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

it("signs in again in a new tab, so that the page keeps what was typed", async () => {
  now = { state: "ended", cause: "expired" };
  await show();
  const link = await screen.findByRole("link", { name: "Sign in again" });
  expect([link.getAttribute("href"), link.getAttribute("target")]).toEqual(["/sign-in?callbackUrl=%2Fconfirmed", "_blank"]);
});

it("renders the page again when the console becomes read-only, within five seconds or once a change is refused", async () => {
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
  await act(async () => announceAnswer({ path: "/api/prompt", method: "POST", status: 403 }));
  expect(refresh).toHaveBeenCalledOnce();
  unmount();
  await act(async () => renderInApp(page(false)));
  await fiveSeconds();
  expect(refresh).toHaveBeenCalledOnce();
  now = live;
  await fiveSeconds();
  expect(refresh).toHaveBeenCalledTimes(2);
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

it("pauses all other requests while the session has ended, and resumes them when it is back", async () => {
  const paths: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    paths.push(path);
    if (path !== "/api/console/session" && now.state === "ended") return Response.json({}, { status: 401 });
    return Response.json(now);
  });
  const others = () => paths.splice(0).filter((path) => path !== "/api/console/session");
  await act(async () =>
    renderInApp(
      <SWRConfig value={{ provider: () => new Map() }}>
        <SessionWatch memberId="ada" role="operator">
          <Polls />
        </SessionWatch>
      </SWRConfig>,
    ),
  );
  await fiveSeconds();
  expect(others().length).toBeGreaterThan(0);
  now = { state: "ended", cause: "expired" };
  await fiveSeconds();
  await screen.findByRole("alert");
  others();
  await act(() => vi.advanceTimersByTimeAsync(600_000));
  expect(others()).toEqual([]);
  now = live;
  await fiveSeconds();
  expect(others()).toContain("/api/jobs");
});

const itself = (value: unknown) => value;
const moving = () => "moving" as const;
function Polls() {
  usePoll("/api/jobs", { read: itself, motion: moving });
  return null;
}
