// @vitest-environment jsdom
// A call that is refused until the person has confirmed their identity, as a page experiences it.
import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { ConfirmGate } from "@/components/frame/account/confirm-gate";
import { callApi } from "@/lib/browser/api";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "./render";

const sent: { path: string; body?: unknown }[] = [];
let answers: Response[] = [];
const refused = (code: string, status: number, message = "") => Response.json({ code, message }, { status });
const done = () => Response.json({ id: "made" }, { status: 201 });

// The page loads it at the first refusal; here it is loaded before.
beforeAll(() => import("@/components/frame/account/confirm-dialog"));
beforeEach(() => {
  sent.length = 0;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    sent.push({ path, ...(typeof init.body === "string" && { body: JSON.parse(init.body) }) });
    return answers.shift() ?? new Response(null, { status: 204 });
  });
});
afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

const router = { back: vi.fn(), forward: vi.fn(), refresh: vi.fn(), push: vi.fn(), replace: vi.fn(), prefetch: vi.fn(), bfcacheId: "" };
const show = () =>
  renderInApp(
    <AtPage router={router}>
      <ConfirmGate email="ana@example.com" methods={{ password: true, providers: [] }} />
    </AtPage>,
  );
const invite = (email: string) => callApi("/api/console/members/invitations", { method: "POST", json: { email } });
const dialog = async () => within(await waitFor(() => screen.getByRole("dialog", { name: "Confirm that it is you" }), { timeout: 10_000 }));
async function give(password: string) {
  const asked = await dialog();
  fireEvent.change(asked.getByLabelText("Password"), { target: { value: password } });
  await act(async () => fireEvent.click(asked.getByRole("button", { name: "Confirm" })));
}

test("the password is asked for once, a wrong one is refused as wrong, and after the right one every call that waits is sent again as it was", async () => {
  answers = [refused("SIGN_IN_AGAIN", 403), refused("SIGN_IN_AGAIN", 403)];
  show();
  const results = Promise.all([invite("one@example.com"), invite("two@example.com")]);
  answers.push(refused("INVALID_BODY", 400, "password: is not your current password"));
  await give("guess");
  expect((await dialog()).getByText("This is not your password.")).toBeDefined();
  answers = [new Response(null, { status: 204 }), done(), done()];
  await give("the right one");
  expect((await results).map(({ ok }) => ok)).toEqual([true, true]);
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(sent.map(({ body }) => body)).toEqual([
    { email: "one@example.com" },
    { email: "two@example.com" },
    { password: "guess" },
    { password: "the right one" },
    { email: "one@example.com" },
    { email: "two@example.com" },
  ]);
});

test("whoever closes the question gets the refusal, and nothing is sent again", async () => {
  answers = [refused("SIGN_IN_AGAIN", 403)];
  show();
  const result = invite("one@example.com");
  const asked = await dialog();
  await act(async () => fireEvent.click(asked.getByRole("button", { name: "Cancel" })));
  expect(await result).toMatchObject({ ok: false, failure: { code: "SIGN_IN_AGAIN" } });
  expect(sent).toHaveLength(1);
});

test("a page without the question hands the refusal on", async () => {
  answers = [refused("SIGN_IN_AGAIN", 403)];
  expect(await invite("one@example.com")).toMatchObject({ ok: false, failure: { code: "SIGN_IN_AGAIN" } });
});
