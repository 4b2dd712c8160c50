// @vitest-environment jsdom
// Lists of what can be revoked: shares, invitations and tokens.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { type ReactNode, Suspense } from "react";
import { afterEach, expect, it } from "vitest";
import { InvitationList } from "@/components/settings/members/invite-form";
import { SharesScreen } from "@/components/settings/shares-screen";
import { TokenList } from "@/components/settings/tokens/tokens-screen";
import { type TokenView } from "@/lib/contract/people/tokens";
import { type ShareView } from "@/lib/contract/share";
import { ok } from "@/lib/shared/result";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "../render";

afterEach(cleanup);

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

it("tells shares with one title apart when one of them is revoked", async () => {
  const shares = [share("a"), { ...share("b", 10), count: 3, ofJob: true, hasPassword: true, connection: "Cloud" }];
  await show(<SharesScreen role="operator" shares={shares} isOn />);
  const questions: (string | null)[] = [];
  for (const button of screen.getAllByRole("button", { name: "Revoke: Poster" })) {
    await act(async () => fireEvent.click(button));
    questions.push(within(screen.getByRole("dialog")).getByText(/made/).textContent);
    fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  }
  expect(questions).toEqual([
    expect.stringMatching(/^1 file · made .* · Studio$/),
    expect.stringMatching(/^3 files of a job · made .* · Cloud · password$/),
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
    const found = screen.queryAllByText("Expires soon").length;
    cleanup();
    return found;
  };
  const days = [2.9, 3.1];
  expect(await count(<SharesScreen role="operator" shares={days.map((left) => share(`${left}`, left))} isOn />)).toBe(1);
  const invitations = days.map((left) => ({ id: `${left}`, ...invited, ...lifetime(left) }));
  expect(await count(<InvitationList invitations={Promise.resolve(ok(invitations))} />)).toBe(1);
  expect(
    await count(<TokenList title="Tokens" none="None" tokens={Promise.resolve(ok(days.map((left) => token(`${left}`, left))))} />),
  ).toBe(1);
});
