// Lists of items that can be revoked: shares, invitations and tokens.
import { act, fireEvent, render, screen, within } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { InvitationList } from "@/components/settings/members/members-screen";
import { SharesScreen } from "@/components/settings/shares-screen";
import { TokenForm } from "@/components/settings/tokens/token-form";
import { TokenList, TokensScreen } from "@/components/settings/tokens/tokens-screen";
import { type InvitationItem } from "@/lib/contract/console";
import { type TokenView } from "@/lib/contract/members/tokens";
import { type ShareView } from "@/lib/contract/share";
import { failed, ok } from "@/lib/shared/result";
import { wrapInApp } from "../render";
import { press, renderScreen, wrapInScreen } from "../render-screen";

const DAY_MS = 24 * 60 * 60_000;
/** Returns the dates of an item that lasts 30 days and has `daysLeft` left. */
const createLifetime = (daysLeft: number) => ({
  createdAt: Date.now() - (30 - daysLeft) * DAY_MS,
  expiresAt: Date.now() + daysLeft * DAY_MS,
});
const createShare = (id: string, daysLeft = 20): ShareView => ({
  ...{ id, title: "Poster", maker: "Ada", isOwn: true, connection: "Studio", ofJob: false, count: 1, state: "open" },
  ...{ views: 0, downloads: 0, hasPassword: false, keepsMetadata: false, showsWorkflow: false, ...createLifetime(daysLeft) },
});
const createToken = (id: string, daysLeft: number): TokenView => ({
  ...{ id, name: id, member: { id: "m", name: "Ada" }, role: "viewer", connection: { id: "c", name: "Studio" } },
  ...{ operations: "all", state: "active", ...createLifetime(daysLeft) },
});
const createInvitation = (id: string, daysLeft: number): InvitationItem => ({
  ...{ id, email: "a@example.com", role: "viewer", state: "open" },
  ...createLifetime(daysLeft),
});

it("describes the share in the dialog when titles are the same", async () => {
  const shares = [createShare("a"), { ...createShare("b", 10), count: 3, ofJob: true, hasPassword: true, connection: "Cloud" }];
  await renderScreen(<SharesScreen role="operator" shares={shares} isSharingEnabled />);
  const descriptions: (string | null)[] = [];
  for (const button of screen.getAllByRole("button", { name: "Revoke: Poster" })) {
    await act(async () => fireEvent.click(button));
    descriptions.push(within(screen.getByRole("dialog")).getByText(/created/).textContent);
    await press("Cancel");
  }
  expect(descriptions).toEqual([
    expect.stringMatching(/^1 file · created .* · Studio$/),
    expect.stringMatching(/^3 files of a job · created .* · Cloud · password$/),
  ]);
});

const createItems = <Item,>(create: (id: string, daysLeft: number) => Item) =>
  [2.9, 3.1].map((daysLeft) => create(`${daysLeft}`, daysLeft));

it.each([
  ["share", <SharesScreen role="operator" shares={createItems(createShare)} isSharingEnabled />],
  ["invitation", <InvitationList invitations={Promise.resolve(ok(createItems(createInvitation)))} />],
  ["token", <TokenList title="Tokens" emptyText="None" tokens={Promise.resolve(ok(createItems(createToken)))} />],
])("marks a %s that expires within 3 days", async (_, list) => {
  await renderScreen(list);
  expect(screen.getAllByText("Expires soon")).toHaveLength(1);
});

it("requires a connection for a token and shows a failed read as an error", async () => {
  const ownTokens = Promise.resolve(failed({ code: "INTERNAL", message: "broken", status: 500 }));
  const choices = Promise.resolve({ connections: [], operations: [{ name: "listJobs", call: "GET /api/jobs" }] });
  await renderScreen(<TokensScreen role="viewer" choices={choices} ownTokens={ownTokens} />);
  expect(screen.queryByText("No tokens.")).toBeNull();
  expect(screen.getByText("Something went wrong in Lightdesk")).toBeTruthy();
  await press("Create a token");
  expect(screen.getByText(/Add a connection first/)).toBeTruthy();
});

it("keeps checked operations and connections when the choices reload", async () => {
  const bodies: unknown[] = [];
  vi.stubGlobal("fetch", async (_path: string, { body }: RequestInit) => {
    bodies.push(JSON.parse(String(body)));
    return Response.json({ code: "INTERNAL", message: "" }, { status: 500 });
  });
  const createForm = () => {
    const connections = ["home", "other"].map((id) => ({ id, name: id, current: id === "home" }));
    const operations = ["listJobs", "getJob"].map((name) => ({ name, call: "GET /api/jobs" }));
    return wrapInApp(
      wrapInScreen(<TokenForm role="admin" choices={{ connections, operations }} onCreated={() => undefined} onClose={() => undefined} />),
    );
  };
  const { rerender } = render(createForm());
  const choose = (name: string, value: string) => fireEvent.change(screen.getByRole("combobox", { name }), { target: { value } });
  choose("Other connections", "chosen");
  choose("Operations", "chosen");
  choose("Expires", "30");
  fireEvent.change(screen.getByRole("textbox", { name: "Name" }), { target: { value: "ci" } });
  fireEvent.click(screen.getByRole("checkbox", { name: "other" }));
  fireEvent.click(screen.getByRole("checkbox", { name: /listJobs/ }));
  rerender(createForm());
  expect(screen.getAllByRole<HTMLInputElement>("checkbox").map(({ checked }) => checked)).toEqual([true, true, false]);
  fireEvent.click(screen.getByRole("checkbox", { name: /listJobs/ }));
  fireEvent.click(screen.getByRole("checkbox", { name: /getJob/ }));
  await press("Create a token");
  expect(bodies).toEqual([expect.objectContaining({ connections: ["home", "other"], operations: ["getJob"] })]);
});
