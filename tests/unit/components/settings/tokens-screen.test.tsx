// @vitest-environment jsdom
// The page of tokens: a member's choices, the request, and the messages when something is missing or fails.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { Suspense } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TokensScreen } from "@/components/settings/tokens/tokens-screen";
import { type Role } from "@/lib/contract/people/roles";
import { type TokenChoices, type TokenView } from "@/lib/contract/people/tokens";
import { failed, ok } from "@/lib/shared/result";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "../render";

const router = { back: vi.fn(), forward: vi.fn(), refresh: vi.fn(), push: vi.fn(), replace: vi.fn(), prefetch: vi.fn(), bfcacheId: "" };
let sent: unknown[] = [];
let answer = () => new Response(null, { status: 204 });
beforeEach(() => {
  sent = [];
  vi.stubGlobal("fetch", async (_path: string, { body }: RequestInit = {}) => {
    sent.push(JSON.parse(String(body)));
    return answer();
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const two: TokenChoices = {
  connections: [
    { id: "c1", name: "Inside", current: false },
    { id: "c2", name: "Cloud", current: true },
  ],
  operations: [
    { name: "listJobs", call: "GET /api/jobs" },
    { name: "events", call: "GET /ws" },
  ],
};
const away = failed({ code: "INTERNAL", message: "broken", status: 500 });

const show = (role: Role, choices = two, own: TokenView[] | "away" = []) =>
  act(async () =>
    renderInApp(
      <AtPage router={router}>
        <Suspense>
          <TokensScreen role={role} choices={Promise.resolve(choices)} own={Promise.resolve(own === "away" ? away : ok(own))} />
        </Suspense>
      </AtPage>,
    ),
  );
const press = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name })));
const choose = (label: string, value: string) =>
  act(async () => fireEvent.change(screen.getByRole("combobox", { name: label }), { target: { value } }));

it("offers no role above one's own, asks for an end, and sends what was chosen", async () => {
  await show("operator");
  await press("Create a token");
  const roles = within(screen.getByRole("combobox", { name: "Role" })).getAllByRole("option");
  expect(roles.map(({ textContent }) => textContent)).toEqual(["runs apps only", "viewer", "operator"]);
  expect(screen.getByRole("combobox", { name: "Expires" })).toHaveProperty("required", true);
  await act(async () => fireEvent.change(screen.getByRole("textbox", { name: "Name" }), { target: { value: "farm" } }));
  await choose("Other connections", "chosen");
  await choose("Operations", "chosen");
  await choose("Expires", "never");
  await press("Create a token");
  for (const kind of ["connection", "operation"]) expect(screen.getByText(`Choose at least one ${kind}.`)).toBeTruthy();
  expect(sent).toEqual([]);
  await act(async () => fireEvent.click(screen.getByRole("checkbox", { name: "Inside" })));
  await act(async () => fireEvent.click(screen.getByRole("checkbox", { name: /^Live events/ })));
  answer = () => Response.json({ code: "CONFLICT", message: "You have 50 tokens." }, { status: 409 });
  await press("Create a token");
  expect(sent).toEqual([
    { name: "farm", role: "operator", connection: "c2", connections: ["c2", "c1"], operations: ["events"], days: null },
  ]);
  // The typed values stay.
  expect(screen.getByText(/Revoke one first/)).toBeTruthy();
  expect(screen.getByRole("textbox", { name: "Name" })).toHaveProperty("value", "farm");
});

it("asks for a connection first where there is none, and never shows an outage as an empty list", async () => {
  await show("viewer", { ...two, connections: [] }, "away");
  expect(screen.queryByText("No tokens.")).toBeNull();
  expect(screen.getByText("Something failed inside Lightdesk")).toBeTruthy();
  await press("Create a token");
  expect(screen.getByText(/Add a connection first/)).toBeTruthy();
});
