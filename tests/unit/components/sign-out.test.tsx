// @vitest-environment jsdom
import "@/components/ui/toast-stack";
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SignOutButton } from "@/components/frame/account/sign-out-button";
import { useCloseWarning } from "@/components/ui/hooks/use-close-warning";
import { Toasts } from "@/components/ui/toasts";
import { until } from "@/tests/support/until";
import { renderInApp } from "./render";

let asked: string[];
/** Signing out is refused, so that the page stays open for the test. */
let refuse: () => void;
beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    if (path.endsWith("/csrf")) return Response.json({ csrfToken: "t" });
    await new Promise<void>((resolve) => (refuse = resolve));
    return Response.json({}, { status: 503 });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
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
const isSignedOut = () => asked.some((path) => path.endsWith("/signout"));

test("signing out asks before it ends what is on its way, and does not ask a second time", async () => {
  renderInApp(<Frame isUnfinished />);
  await press("Sign out");
  expect(asked).toEqual([]);
  expect(screen.getByText(/^Some work is unfinished/)).toBeTruthy();
  await press("Sign out anyway");
  await until("the session is ended", isSignedOut);
  const isAskedOnLeaving = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  expect(isAskedOnLeaving()).toBe(false);
  // The session could not be ended, so unsaved work is guarded again.
  refuse();
  await screen.findByText(/^Could not sign out/);
  expect(isAskedOnLeaving()).toBe(true);
});

test("signing out asks nothing where nothing would be lost", async () => {
  renderInApp(<Frame isUnfinished={false} />);
  await press("Sign out");
  await until("the session is ended", isSignedOut);
});
