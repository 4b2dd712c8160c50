// Lists of items that can be revoked: shares, invitations and tokens.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { type ReactNode, Suspense } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { InvitationList } from "@/components/settings/members/members-screen";
import { SharesScreen } from "@/components/settings/shares-screen";
import { TokenList, TokensScreen } from "@/components/settings/tokens/tokens-screen";
import { type Role } from "@/lib/contract/members/roles";
import { type TokenChoices, type TokenView } from "@/lib/contract/members/tokens";
import { type ShareView } from "@/lib/contract/share";
import { failed, ok } from "@/lib/shared/result";
import { PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "../render";

const show = (children: ReactNode) =>
  act(async () =>
    renderInApp(
      <PageProvider>
        <Suspense>{children}</Suspense>
      </PageProvider>,
    ),
  );

const DAY_MS = 24 * 60 * 60_000;
/** Returns the dates of an item that lasts 30 days and has `daysLeft` left. */
const createLifetime = (daysLeft: number) => ({
  createdAt: Date.now() - (30 - daysLeft) * DAY_MS,
  expiresAt: Date.now() + daysLeft * DAY_MS,
});
const createShare = (id: string, daysLeft = 20): ShareView => ({
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
  ...{ hasPassword: false, keepsMetadata: false, showsWorkflow: false, ...createLifetime(daysLeft) },
});

it("describes the share in the dialog when titles are the same", async () => {
  const shares = [createShare("a"), { ...createShare("b", 10), count: 3, ofJob: true, hasPassword: true, connection: "Cloud" }];
  await show(<SharesScreen role="operator" shares={shares} isSharingEnabled />);
  const descriptions: (string | null)[] = [];
  for (const button of screen.getAllByRole("button", { name: "Revoke: Poster" })) {
    await act(async () => fireEvent.click(button));
    descriptions.push(within(screen.getByRole("dialog")).getByText(/created/).textContent);
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  }
  expect(descriptions).toEqual([
    expect.stringMatching(/^1 file · created .* · Studio$/),
    expect.stringMatching(/^3 files of a job · created .* · Cloud · password$/),
  ]);
});

it("marks shares, invitations and tokens that expire within 3 days", async () => {
  const invitation = { email: "a@example.com", role: "viewer", state: "open" } as const;
  const createToken = (id: string, daysLeft: number): TokenView => ({
    ...{ id, name: id, member: { id: "m", name: "Ada" }, role: "viewer", connection: { id: "c", name: "Studio" } },
    ...{ operations: "all", state: "active", ...createLifetime(daysLeft) },
  });
  const countExpiringSoon = async (list: ReactNode) => {
    await show(list);
    const expiringCount = screen.queryAllByText("Expires soon").length;
    cleanup();
    return expiringCount;
  };
  const days = [2.9, 3.1];
  expect(
    await countExpiringSoon(<SharesScreen role="operator" shares={days.map((day) => createShare(`${day}`, day))} isSharingEnabled />),
  ).toBe(1);
  const invitations = days.map((day) => ({ id: `${day}`, ...invitation, ...createLifetime(day) }));
  expect(await countExpiringSoon(<InvitationList invitations={Promise.resolve(ok(invitations))} />)).toBe(1);
  expect(
    await countExpiringSoon(
      <TokenList title="Tokens" emptyText="None" tokens={Promise.resolve(ok(days.map((day) => createToken(`${day}`, day))))} />,
    ),
  ).toBe(1);
});

describe("tokens screen", () => {
  const router = { back: vi.fn(), forward: vi.fn(), refresh: vi.fn(), push: vi.fn(), replace: vi.fn(), prefetch: vi.fn(), bfcacheId: "" };
  let bodies: unknown[] = [];
  const createEmptyResponse = () => new Response(null, { status: 204 });
  beforeEach(() => {
    bodies = [];
    vi.stubGlobal("fetch", async (_path: string, { body }: RequestInit = {}) => {
      bodies.push(JSON.parse(String(body)));
      return createEmptyResponse();
    });
  });

  const twoConnections: TokenChoices = {
    connections: [
      { id: "c1", name: "Inside", current: false },
      { id: "c2", name: "Cloud", current: true },
    ],
    operations: [
      { name: "listJobs", call: "GET /api/jobs" },
      { name: "events", call: "GET /ws" },
    ],
  };
  const failedRead = failed({ code: "INTERNAL", message: "broken", status: 500 });

  const show = (role: Role, choices = twoConnections, ownTokens: TokenView[] | "failed" = []) =>
    act(async () =>
      renderInApp(
        <PageProvider router={router}>
          <Suspense>
            <TokensScreen
              role={role}
              choices={Promise.resolve(choices)}
              ownTokens={Promise.resolve(ownTokens === "failed" ? failedRead : ok(ownTokens))}
            />
          </Suspense>
        </PageProvider>,
      ),
    );
  const press = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name })));

  it("requires a connection and shows a failed read as an error", async () => {
    await show("viewer", { ...twoConnections, connections: [] }, "failed");
    expect(screen.queryByText("No tokens.")).toBeNull();
    expect(screen.getByText("Something went wrong in Lightdesk")).toBeTruthy();
    await press("Create a token");
    expect(screen.getByText(/Add a connection first/)).toBeTruthy();
  });
});
