// Lists of revocable items: shares, invitations and tokens.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { type ReactNode, Suspense } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { InvitationList } from "@/components/settings/members/members-screen";
import { SharesScreen } from "@/components/settings/shares-screen";
import { TokenList, TokensScreen } from "@/components/settings/tokens/tokens-screen";
import { type Role } from "@/lib/contract/people/roles";
import { type TokenChoices, type TokenView } from "@/lib/contract/people/tokens";
import { type ShareView } from "@/lib/contract/share";
import { failed, ok } from "@/lib/shared/result";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "../render";

const show = (children: ReactNode) =>
  act(async () =>
    renderInApp(
      <AtPage>
        <Suspense>{children}</Suspense>
      </AtPage>,
    ),
  );

const DAY_MS = 24 * 60 * 60_000;
/** `daysLeft` of thirty. */
const lifetime = (daysLeft: number) => ({ createdAt: Date.now() - (30 - daysLeft) * DAY_MS, expiresAt: Date.now() + daysLeft * DAY_MS });
const share = (id: string, daysLeft = 20): ShareView => ({
  ...{
    id,
    title: "Poster",
    maker: "Ada",
    isOwn: true,
    connection: "Studio",
    ofJob: false,
    count: 1,
    state: "open",
    views: 0,
    downloads: 0,
  },
  ...{ hasPassword: false, keepsMetadata: false, showsWorkflow: false, ...lifetime(daysLeft) },
});

it("distinguishes shares with one title when revoking", async () => {
  const shares = [share("a"), { ...share("b", 10), count: 3, ofJob: true, hasPassword: true, connection: "Cloud" }];
  await show(<SharesScreen role="operator" shares={shares} isOn />);
  const questions: (string | null)[] = [];
  for (const button of screen.getAllByRole("button", { name: "Revoke: Poster" })) {
    await act(async () => fireEvent.click(button));
    questions.push(within(screen.getByRole("dialog")).getByText(/created/).textContent);
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  }
  expect(questions).toEqual([
    expect.stringMatching(/^1 file · created .* · Studio$/),
    expect.stringMatching(/^3 files of a job · created .* · Cloud · password$/),
  ]);
});

it("marks shares, invitations and tokens in their last days", async () => {
  const invited = { email: "a@example.com", role: "viewer", state: "open" } as const;
  const token = (id: string, daysLeft: number): TokenView => ({
    ...{ id, name: id, member: { id: "m", name: "Ada" }, role: "viewer", connection: { id: "c", name: "Studio" } },
    ...{ operations: "all", state: "active", ...lifetime(daysLeft) },
  });
  const count = async (list: ReactNode) => {
    await show(list);
    const soonCount = screen.queryAllByText("Expires soon").length;
    cleanup();
    return soonCount;
  };
  const days = [2.9, 3.1];
  expect(await count(<SharesScreen role="operator" shares={days.map((day) => share(`${day}`, day))} isOn />)).toBe(1);
  const invitations = days.map((day) => ({ id: `${day}`, ...invited, ...lifetime(day) }));
  expect(await count(<InvitationList invitations={Promise.resolve(ok(invitations))} />)).toBe(1);
  expect(await count(<TokenList title="Tokens" none="None" tokens={Promise.resolve(ok(days.map((day) => token(`${day}`, day))))} />)).toBe(
    1,
  );
});

describe("tokens screen", () => {
  const router = { back: vi.fn(), forward: vi.fn(), refresh: vi.fn(), push: vi.fn(), replace: vi.fn(), prefetch: vi.fn(), bfcacheId: "" };
  let bodies: unknown[] = [];
  const respond = () => new Response(null, { status: 204 });
  beforeEach(() => {
    bodies = [];
    vi.stubGlobal("fetch", async (_path: string, { body }: RequestInit = {}) => {
      bodies.push(JSON.parse(String(body)));
      return respond();
    });
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

  const show = (role: Role, choices = two, ownTokens: TokenView[] | "away" = []) =>
    act(async () =>
      renderInApp(
        <AtPage router={router}>
          <Suspense>
            <TokensScreen
              role={role}
              choices={Promise.resolve(choices)}
              ownTokens={Promise.resolve(ownTokens === "away" ? away : ok(ownTokens))}
            />
          </Suspense>
        </AtPage>,
      ),
    );
  const press = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name })));

  it("requires a connection and never shows an outage as empty", async () => {
    await show("viewer", { ...two, connections: [] }, "away");
    expect(screen.queryByText("No tokens.")).toBeNull();
    expect(screen.getByText("Something went wrong in Lightdesk")).toBeTruthy();
    await press("Create a token");
    expect(screen.getByText(/Add a connection first/)).toBeTruthy();
  });
});
