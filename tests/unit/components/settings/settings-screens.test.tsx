// Invitations, the audit log and the account in Settings.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { AccountScreen } from "@/components/settings/account/account-screen";
import { AuditScreen } from "@/components/settings/audit/audit-screen";
import { InvitationList } from "@/components/settings/members/members-screen";
import { type AuditItem } from "@/lib/contract/audit/audit";
import { type InvitationItem, type MemberView } from "@/lib/contract/console";
import { type SignInMethods } from "@/lib/contract/members/sign-in";
import { type Language } from "@/lib/shared/languages";
import { failed, ok } from "@/lib/shared/result";
import { press, renderScreen } from "../render-screen";

const router = { push: vi.fn(), refresh: vi.fn() };
const requests: { path: string; method?: string }[] = [];
let respond: () => Response;

beforeEach(() => {
  requests.length = 0;
  respond = () => new Response(null, { status: 204 });
  vi.stubGlobal("fetch", async (path: string, { method }: RequestInit = {}) => {
    requests.push({ path, method });
    return respond();
  });
});

const openInvitation: InvitationItem = {
  id: "i1",
  email: "grace@example.com",
  role: "operator",
  state: "open",
  invitedBy: "Olga Owner",
  createdAt: Date.parse("2026-02-27T12:00:00Z"),
  expiresAt: Date.parse("2026-03-06T12:00:00Z"),
};

describe("invitation list", () => {
  const show = (...invitations: InvitationItem[]) =>
    renderScreen(<InvitationList invitations={Promise.resolve(ok(invitations))} />, { router });
  const createPastInvitation = (state: "used" | "expired" | "withdrawn", overrides: Partial<InvitationItem> = {}): InvitationItem => ({
    ...openInvitation,
    ...{ id: state, email: `${state}@example.com`, state },
    ...overrides,
  });

  it("shows the details of an open invitation and a Withdraw button", async () => {
    await show(openInvitation, createPastInvitation("used"), createPastInvitation("expired"), createPastInvitation("withdrawn"));
    const row = screen.getByText("grace@example.com").closest("li");
    expect(row?.textContent).toMatch(/by Olga Owner · created \d+ days ago · until Mar 6, 2026.*operator.*Open/);
    expect(screen.getAllByRole("button").map((button) => button.getAttribute("aria-label"))).toEqual(["Withdraw: grace@example.com"]);
    expect(["Used", "Expired", "Withdrawn"].map((word) => screen.getByText(word).closest("details") !== null)).toEqual([true, true, true]);
  });

  it("revokes an invitation and reloads the list when confirmed", async () => {
    await show(openInvitation);
    await press("Withdraw: grace@example.com");
    expect(requests).toEqual([]);
    await press("Withdraw the invitation for grace@example.com");
    expect(requests).toEqual([{ path: "/api/console/members/invitations/i1", method: "DELETE" }]);
    expect(router.refresh).toHaveBeenCalled();
  });

  it("shows that no invitation is open and marks a former member's", async () => {
    await show(createPastInvitation("used", { invitedBy: undefined }));
    expect(screen.getByText("No open invitations.")).toBeDefined();
    expect(screen.getByText(/by a former member/)).toBeDefined();
  });
});

describe("audit log", () => {
  const entry: AuditItem = {
    id: 7,
    at: Date.parse("2026-03-01T11:00:00Z"),
    requestId: "r-1",
    member: { id: "ana", name: "Ana Ruiz" },
    action: "submitPrompt",
    connection: { id: "c", name: "Studio cloud" },
    status: 200,
    outcome: "prompt_id=abc",
  };
  /** Shows the entries and returns their rows. */
  async function show(
    entries: AuditItem[],
    { hasMore = false, ...options }: { hasMore?: boolean; locale?: Language; search?: string } = {},
  ) {
    const choices = { members: [{ id: "ana", name: "Ana Ruiz" }], actions: ["submitPrompt", "ofAnotherVersion"] };
    const promises = { page: Promise.resolve(ok({ entries, hasMore })), choices: Promise.resolve(ok(choices)) };
    await renderScreen(<AuditScreen role="admin" view={{ member: "ana" }} promises={promises} />, { router, ...options });
    return screen.queryAllByRole("row").slice(1);
  }
  const refusal = { status: 403, code: "ROLE_TOO_LOW", outcome: undefined };

  it.each([
    ["the time, member, action, target and outcome", {}, /days ago.*Ana Ruiz.*submitted a workflow.*Studio cloud.*Done.*job abc/],
    [
      "an unknown member, action and connection",
      { ...refusal, action: "ofAnotherVersion", member: undefined, connection: { id: "theirs" } },
      /Unknown.*ofAnotherVersion.*another connection.*RefusedTheir role does not allow this$/,
    ],
    ["a refused action as an attempt", { ...refusal, action: "deleteAsset" }, /tried to delete an asset.*Their role does not allow this/],
    ["a missing target", { action: "deleteAsset", target: "a-1", status: 404, code: "NOT_FOUND", outcome: undefined }, /Not found$/],
    ["a note", { action: "createAssetFromHash", outcome: "unknown hash" }, /Done.*not stored yet, nothing was added$/],
    ["no note when the outcome has none", { action: "manageHistory", outcome: "code=OK" }, /Done$/],
    ["the number of stopped jobs when their ids are missing", { action: "stopJobs", target: "3 jobs", outcome: undefined }, /[^#]3 jobs/],
  ])("shows %s", async (_, fields, text) => {
    const [row] = await show([{ ...entry, ...fields }]);
    expect(row?.textContent).toMatch(text);
  });

  it("translates service failures and notes to both languages", async () => {
    const items: AuditItem[] = [
      { ...entry, status: 502, code: "UPSTREAM_UNREACHABLE", outcome: undefined },
      { ...entry, id: 6, action: "createConnection", outcome: "strange, not saved" },
      { ...entry, id: 5, action: "uploadMask", outcome: `name=${"0a".repeat(32)}.png id=a-9` },
      { ...entry, id: 4, action: "changeMember", outcome: "role: admin", change: { role: { to: "admin" } } },
      {
        ...entry,
        id: 8,
        action: "changeMember",
        outcome: "in English",
        change: { role: { from: "viewer", to: "operator" }, groups: ["1", "2"], provider: "X" },
      },
      { ...entry, id: 3, outcome: "the same submission again: nothing was sent" },
      { ...entry, id: 2, action: "uploadAsset", outcome: "created_new=false" },
      { ...entry, id: 1, action: "changeAccount", outcome: "name, password" },
    ];
    const getOutcomes = (rows: readonly HTMLElement[]) => rows.map((row) => row.lastElementChild?.textContent);
    expect(getOutcomes(await show(items))).toEqual([
      "FailedCouldn't reach the service",
      "Doneunexpected response; not saved",
      "Doneid a-9",
      "Donerole: admin",
      "Donerole: viewer → operator · by groups at X: 1, 2",
      "Donesent twice; no second job was started",
      "Donesame content as a stored file",
      "Donename, password",
    ]);
    cleanup();
    expect(getOutcomes(await show(items, { locale: "zh-CN" })).join(" ")).not.toMatch(/[a-z]{4,}/i);
  });

  it("links the resulting job or asset and shows file paths", async () => {
    const deletion = { ...entry, action: "deleteAsset", target: "a-3" };
    const rows = await show([
      { ...entry, id: 10, target: "abc" },
      { ...entry, id: 9, action: "uploadAsset", outcome: "id=a-2 name=my own cat.png created_new=true" },
      { ...deletion, id: 8, ...refusal },
      { ...deletion, id: 7, status: 404, code: "NOT_FOUND", outcome: undefined },
      { ...deletion, id: 6, outcome: undefined },
      { ...entry, id: 5, connection: { id: "theirs" } },
      { ...entry, id: 4, action: "stopJobs", target: "3 jobs", outcome: undefined },
      { ...entry, id: 3, action: "writeUserdata", target: "workflows/a.json", outcome: "path=workflows/a.json" },
      { ...entry, id: 2, action: "manageQueue", outcome: "deleted=2 (x, y)" },
    ]);
    const getLinks = (row: HTMLElement) => [...row.querySelectorAll("a")].map((link) => link.getAttribute("href"));
    const assetLinks = ["a-2", "a-3"].map((id) => [`/assets/${id}?connection=c`]);
    expect(rows.map(getLinks)).toEqual([["/jobs/abc?connection=c"], ...assetLinks, [], [], [], [], [], []]);
    expect(rows[1]?.textContent).toContain("asset a-2 · name my own cat.png · new content");
    expect(rows[7]?.textContent).toContain("file workflows/a.json");
    expect(rows[8]?.textContent).toContain("deleted 2 (x, y)");
  });

  it("keeps filters and the connection in the URL and in page links", async () => {
    await show([entry], { hasMore: true, search: "connection=home" });
    fireEvent.change(screen.getByRole("combobox", { name: "Action" }), { target: { value: "submitPrompt" } });
    expect(router.push).toHaveBeenCalledWith("/settings/audit?member=ana&action=submitPrompt&connection=home");
    const getHref = (name: string) => screen.getByRole("link", { name }).getAttribute("href");
    expect(getHref("Older")).toBe("/settings/audit?member=ana&before=7&connection=home");
    expect(getHref("Tokens")).toBe("/settings/tokens?connection=home");
    expect(getHref("Export CSV")).toBe("/api/console/audit/export?member=ana");
    expect(getHref("Clear filters")).toBe("/settings/audit?connection=home");
  });

  it("shows active filters when their options fail to load", async () => {
    const choices = Promise.resolve(failed({ code: "INTERNAL", message: "", status: 500 }));
    const promises = { page: Promise.resolve(ok({ entries: [], hasMore: false })), choices };
    await renderScreen(<AuditScreen role="admin" view={{ member: "ana", action: "submitPrompt" }} promises={promises} />);
    const texts = screen.getAllByRole<HTMLSelectElement>("combobox").map(({ selectedOptions: [option] }) => option?.textContent);
    expect(texts).toEqual(["Unknown", "submitted a workflow", "At any time"]);
  });

  it("shows a message when nothing matches or the role can't see the log", async () => {
    await show([]);
    expect(screen.getByText("Change the person, action or time.")).toBeDefined();
    cleanup();
    await renderScreen(<AuditScreen role="operator" view={{}} />);
    expect(screen.getByText(/Only owners and admins can see the audit log\. Your role is operator\./)).toBeDefined();
    expect(screen.queryByRole("combobox")).toBeNull();
  });
});

describe("account", () => {
  const member: MemberView = { id: "ana", name: "Ana Ruiz", email: "ana@example.com", role: "operator", disabled: false, createdAt: 0 };
  const baseSession = { browser: "Firefox · Linux", address: "198.51.100.1", method: "password", createdAt: 0, usedAt: 0 };
  const ownSession = { ...baseSession, id: "this", current: true };
  const otherSession = { ...baseSession, id: "phone", browser: "Safari · iOS", current: false };
  const show = (sessions = [ownSession, otherSession], methods: Partial<SignInMethods> = {}) =>
    renderScreen(<AccountScreen methods={{ password: true, providers: [], ...methods }} member={member} sessions={sessions} />);

  it("shows a wrong password next to its field and keeps typed values", async () => {
    const details = [{ path: "currentPassword", message: "is wrong" }];
    respond = () => Response.json({ code: "INVALID_BODY", message: "currentPassword: is wrong", details }, { status: 400 });
    await show();
    const emailForm = within(screen.getByRole("region", { name: "Email address" }));
    fireEvent.change(emailForm.getByRole("textbox", { name: "Email" }), { target: { value: "new@example.com" } });
    fireEvent.change(emailForm.getByLabelText("Current password"), { target: { value: "guess" } });
    await act(async () => fireEvent.click(emailForm.getByRole("button", { name: "Change email address" })));
    expect(emailForm.getByText("This is not your current password.")).toBeDefined();
    expect(emailForm.getByRole<HTMLInputElement>("textbox", { name: "Email" }).value).toBe("new@example.com");
  });

  it("explains why the email address can't be changed", async () => {
    await show([ownSession], { hasFixedAddress: true });
    expect(screen.getByText(/can't change this address here/)).toBeDefined();
    expect(screen.getByText("Email address")).toBeDefined();
    expect(document.querySelector("input[name=email]")).toBeNull();
  });

  it("asks for confirmation when other sessions are ended", async () => {
    respond = () => Response.json({ code: "INTERNAL", message: "" }, { status: 500 });
    await show();
    await press("End other sessions");
    expect(requests).toEqual([]);
    const dialog = within(screen.getByRole("dialog"));
    await act(async () => fireEvent.click(dialog.getByRole("button", { name: "End other sessions" })));
    expect(requests).toEqual([{ path: "/api/console/account/sessions", method: "DELETE" }]);
    expect(screen.getByRole("alert")).toBeDefined();
    cleanup();
    await show([ownSession]);
    expect(screen.queryByRole("button", { name: "End other sessions" })).toBeNull();
  });
});
