// Invitations, the audit log and the account in Settings.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { type ReactNode, Suspense } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { AccountScreen } from "@/components/settings/account/account-screen";
import { AuditScreen } from "@/components/settings/audit/audit-screen";
import { InvitationList } from "@/components/settings/members/members-screen";
import { type AuditItem } from "@/lib/contract/audit/audit";
import { type InvitationItem, type MemberView } from "@/lib/contract/console";
import { type SignInMethods } from "@/lib/contract/members/sign-in";
import { ok } from "@/lib/shared/result";
import { PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "../render";

const router = { back: vi.fn(), forward: vi.fn(), refresh: vi.fn(), push: vi.fn(), replace: vi.fn(), prefetch: vi.fn(), bfcacheId: "" };
const requests: { path: string; method?: string; body?: unknown }[] = [];
let responses: Response[] = [];

beforeEach(() => {
  requests.length = 0;
  responses = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    requests.push({ path, method: init.method, ...(typeof init.body === "string" && { body: JSON.parse(init.body) }) });
    return responses.shift() ?? new Response(null, { status: 204 });
  });
});

const show = (children: ReactNode, locale?: "zh-CN") =>
  act(async () =>
    renderInApp(
      <PageProvider router={router}>
        <Suspense>{children}</Suspense>
      </PageProvider>,
      locale,
    ),
  );
const press = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name })));

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
  const pastInvitations = (["used", "expired", "withdrawn"] as const).map((state) => ({
    ...openInvitation,
    id: state,
    email: `${state}@example.com`,
    state,
  }));

  it("shows the details of an open invitation and a Withdraw button", async () => {
    await show(<InvitationList invitations={Promise.resolve(ok([openInvitation, ...pastInvitations]))} />);
    const row = screen.getByText("grace@example.com").closest("li");
    expect(row?.textContent).toMatch(/by Olga Owner · created \d+ days ago · until Mar 6, 2026.*operator.*Open/);
    expect(screen.getAllByRole("button").map((button) => button.getAttribute("aria-label"))).toEqual(["Withdraw: grace@example.com"]);
    expect(["Used", "Expired", "Withdrawn"].map((word) => screen.getByText(word).closest("details") !== null)).toEqual([true, true, true]);
  });

  it("revokes an invitation and reloads the list when confirmed", async () => {
    await show(<InvitationList invitations={Promise.resolve(ok([openInvitation]))} />);
    await press("Withdraw: grace@example.com");
    expect(requests).toEqual([]);
    await press("Withdraw the invitation of grace@example.com");
    expect(requests).toEqual([{ path: "/api/console/members/invitations/i1", method: "DELETE" }]);
    expect(router.refresh).toHaveBeenCalled();
  });

  it("shows that no invitation is open and marks a former member's", async () => {
    await show(<InvitationList invitations={Promise.resolve(ok([{ ...openInvitation, state: "used", invitedBy: undefined }]))} />);
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
  const createScreen = (entries: AuditItem[], hasMore = false) => (
    <AuditScreen
      role="admin"
      view={{ member: "ana" }}
      promises={{
        page: Promise.resolve(ok({ entries, hasMore })),
        choices: Promise.resolve(ok({ members: [{ id: "ana", name: "Ana Ruiz" }], actions: ["submitPrompt", "ofAnotherVersion"] })),
      }}
    />
  );

  it("shows the time, member, action, target and outcome", async () => {
    const refusedEntry = { ...entry, id: 6, action: "ofAnotherVersion", status: 403, code: "ROLE_TOO_LOW", outcome: undefined };
    await show(createScreen([entry, { ...refusedEntry, member: undefined, connection: { id: "theirs" } }]));
    const [, first, second] = screen.getAllByRole("row").map((row) => row.textContent);
    expect(first).toMatch(/days ago.*Ana Ruiz.*submitted a workflow.*Studio cloud.*Done.*job abc/);
    expect(second).toMatch(/Unknown.*ofAnotherVersion.*another connection.*Refused.*Their role does not allow this$/);
    expect(second).not.toContain("ROLE_TOO_LOW");
  });

  it("shows a refused action as an attempt with the reason", async () => {
    const refusedEntry = { ...entry, action: "deleteAsset", target: "a-1", status: 403, code: "ROLE_TOO_LOW", outcome: undefined };
    await show(createScreen([refusedEntry, { ...refusedEntry, id: 6, status: 404, code: "NOT_FOUND" }]));
    const [, first, second] = screen.getAllByRole("row").map((row) => row.textContent);
    expect(first).toMatch(/tried to delete an asset.*Their role does not allow this/);
    expect(second).toMatch(/Not found$/);
    expect(screen.getAllByRole("link", { name: "a-1" })).toHaveLength(1);
  });

  it("shows a note only when the outcome has one", async () => {
    const lookupEntry = { ...entry, action: "createAssetFromHash", outcome: "unknown hash" };
    await show(createScreen([lookupEntry, { ...entry, id: 6, action: "manageHistory", outcome: "code=OK" }]));
    const [, first, second] = screen.getAllByRole("row").map((row) => row.textContent);
    expect(first).toMatch(/Done.*not stored yet, nothing was added$/);
    expect(second).toMatch(/Done$/);
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
    const getOutcomes = () =>
      screen
        .getAllByRole("row")
        .slice(1)
        .map((row) => row.lastElementChild?.textContent);
    await show(createScreen(items));
    expect(getOutcomes()).toEqual([
      "FailedThe service cannot be reached",
      "Doneunexpected response; not saved",
      "Doneid a-9",
      "Donerole: admin",
      "Donerole: viewer → operator · by groups at X: 1, 2",
      "Donesent twice; no second job was started",
      "Donesame content as a stored file",
      "Donename, password",
    ]);
    cleanup();
    await show(createScreen(items), "zh-CN");
    expect(getOutcomes().join(" ")).not.toMatch(/[a-z]{4,}/i);
  });

  it("shows the number of stopped jobs when their ids are missing", async () => {
    await show(createScreen([{ ...entry, action: "stopJobs", target: "3 jobs", outcome: undefined }]));
    const [, row] = screen.getAllByRole("row");
    expect(row?.textContent).toMatch(/[^#]3 jobs/);
    expect(row?.querySelector("a")).toBeNull();
  });

  it("links the resulting job or asset and shows file paths", async () => {
    const uploadEntry = { ...entry, id: 6, action: "uploadAsset", outcome: "id=a-2 name=my own cat.png created_new=true" };
    const deleteEntry = { ...entry, id: 5, action: "deleteAsset", target: "a-3", outcome: undefined };
    const otherConnectionEntry = { ...entry, id: 4, connection: { id: "theirs" } };
    const writeEntry = { ...entry, id: 3, action: "writeUserdata", target: "workflows/a.json", outcome: "path=workflows/a.json" };
    const queueEntry = { ...entry, id: 2, action: "manageQueue", outcome: "deleted=2 (x, y)" };
    await show(createScreen([{ ...entry, target: "abc" }, uploadEntry, deleteEntry, otherConnectionEntry, writeEntry, queueEntry]));
    const rows = screen.getAllByRole("row").slice(1);
    const getLinks = (row: HTMLElement | undefined) => [...(row?.querySelectorAll("a") ?? [])].map((link) => link.getAttribute("href"));
    expect(rows.map(getLinks)).toEqual([["/jobs/abc?connection=c"], ["/assets/a-2?connection=c"], [], [], [], []]);
    expect(rows[1]?.textContent).toContain("asset a-2 · name my own cat.png · new content");
    expect(rows[4]?.textContent).toContain("file workflows/a.json");
    expect(rows[5]?.textContent).toContain("deleted 2 (x, y)");
  });

  it("keeps filters in the URL, in page links and in the export", async () => {
    await show(createScreen([entry], true));
    fireEvent.change(screen.getByRole("combobox", { name: "Action" }), { target: { value: "submitPrompt" } });
    expect(router.push).toHaveBeenCalledWith("/settings/audit?member=ana&action=submitPrompt");
    expect(screen.getByRole("link", { name: "Older" }).getAttribute("href")).toBe("/settings/audit?member=ana&before=7");
    expect(screen.getByRole("link", { name: "Export CSV" }).getAttribute("href")).toBe("/api/console/audit/export?member=ana");
    expect(screen.getByRole("link", { name: "Clear filters" }).getAttribute("href")).toBe("/settings/audit");
  });

  it("shows a message when nothing matches or the role can't see the log", async () => {
    await show(createScreen([]));
    expect(screen.getByText("Change the person, action or time.")).toBeDefined();
    cleanup();
    await show(<AuditScreen role="operator" view={{}} />);
    expect(screen.getByText(/Only owners and admins can see the audit log\. Your role is operator\./)).toBeDefined();
    expect(screen.queryByRole("combobox")).toBeNull();
  });
});

describe("account", () => {
  const member: MemberView = { id: "ana", name: "Ana Ruiz", email: "ana@example.com", role: "operator", disabled: false, createdAt: 0 };
  const baseSession = { browser: "Firefox · Linux", address: "198.51.100.1", method: "password", createdAt: 0, usedAt: 0 };
  const sessions = [
    { ...baseSession, id: "this", current: true },
    { ...baseSession, id: "phone", browser: "Safari · iOS", address: "203.0.113.9", current: false },
  ];
  const getForm = (name: string) => within(screen.getByRole("region", { name }));
  const createRefusal = (path: string) =>
    Response.json({ code: "INVALID_BODY", message: `${path}: is wrong`, details: [{ path, message: "is wrong" }] }, { status: 400 });

  it("shows a wrong password next to its field and keeps typed values", async () => {
    responses = [createRefusal("currentPassword")];
    await show(<AccountScreen methods={{ password: true, providers: [] }} member={member} sessions={sessions} />);
    const emailForm = getForm("Email address");
    fireEvent.change(emailForm.getByRole("textbox", { name: "Email" }), { target: { value: "new@example.com" } });
    fireEvent.change(emailForm.getByLabelText("Current password"), { target: { value: "guess" } });
    await act(async () => fireEvent.click(emailForm.getByRole("button", { name: "Change email address" })));
    expect(emailForm.getByText("This is not your current password.")).toBeDefined();
    expect(emailForm.getByRole<HTMLInputElement>("textbox", { name: "Email" }).value).toBe("new@example.com");
  });

  it.each([
    [undefined, "Email address", /can't change this address here/],
    ["zh-CN", "邮箱地址", /不能在这里更改/],
  ] as const)("explains why the email address can't be changed (%s)", async (locale, title, sentence) => {
    const methods: SignInMethods = { password: true, hasFixedAddress: true, providers: [] };
    await show(<AccountScreen methods={methods} member={member} sessions={sessions} />, locale);
    expect(screen.getByText(sentence)).toBeDefined();
    expect(screen.getByText(title)).toBeDefined();
    expect(document.querySelector("input[name=email]")).toBeNull();
  });

  it("asks for confirmation when other sessions are ended", async () => {
    responses = [Response.json({ code: "INTERNAL", message: "" }, { status: 500 })];
    await show(<AccountScreen methods={{ password: true, providers: [] }} member={member} sessions={sessions} />);
    await press("End other sessions");
    expect(requests).toEqual([]);
    const dialog = within(screen.getByRole("dialog"));
    await act(async () => fireEvent.click(dialog.getByRole("button", { name: "End other sessions" })));
    expect(requests).toEqual([{ path: "/api/console/account/sessions", method: "DELETE" }]);
    expect(screen.getByRole("alert")).toBeDefined();
    cleanup();
    await show(<AccountScreen methods={{ password: true, providers: [] }} member={member} sessions={sessions.slice(0, 1)} />);
    expect(screen.queryByRole("button", { name: "End other sessions" })).toBeNull();
  });
});
