// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { invitationReason, InvitationRefusal } from "@/components/auth/sign-up-forms";
import { InvitationLink } from "@/components/settings/members/invite-form";
import { mayChange, MemberItem, MemberList, rolesToGive } from "@/components/settings/members/member-list";
import { MembersScreen, ReadOnlyCard } from "@/components/settings/members/members-screen";
import { type MemberView } from "@/lib/contract/console";
import { type Role, roles } from "@/lib/contract/people/roles";
import { ok } from "@/lib/shared/result";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "../render";

afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

const grace: MemberView = {
  id: "grace",
  name: "Grace Hopper",
  email: "grace@example.com",
  role: "operator",
  disabled: false,
  createdAt: Date.parse("2026-02-27T12:00:00Z"),
};
const item = (member: MemberView, more: { isViewer?: boolean; canChange?: boolean } = {}) =>
  renderInApp(
    <MemberItem
      member={member}
      isViewer={false}
      canChange={false}
      isBusy={false}
      onChangeRole={() => undefined}
      onSuspend={() => undefined}
      onAdmit={() => undefined}
      onRemove={() => undefined}
      {...more}
    />,
  );

describe("what is offered for a member", () => {
  it("is nothing for oneself, for the owner, and for whoever is stronger", () => {
    const changed = (viewer: Role) => roles.filter((role) => mayChange({ id: "me", role: viewer }, { id: "other", role }));
    expect(changed("owner")).toEqual(["runner", "viewer", "operator", "admin"]);
    expect(changed("admin")).toEqual(["runner", "viewer", "operator", "admin"]);
    expect(changed("operator")).toEqual(["runner", "viewer", "operator"]);
    expect(mayChange({ id: "me", role: "admin" }, { id: "me", role: "admin" })).toBe(false);
  });

  it("is no role above one's own, and never the owner's", () => {
    expect(rolesToGive({ role: "owner" })).toEqual(["runner", "viewer", "operator", "admin"]);
    expect(rolesToGive({ role: "operator" })).toEqual(["runner", "viewer", "operator"]);
  });

  it("is a button for each act that says whom it is about", () => {
    item(grace, { canChange: true });
    expect(screen.getByRole("button", { name: "Change role: Grace Hopper" })).toBeDefined();
    expect(screen.getByRole("button", { name: "Suspend: Grace Hopper" })).toBeDefined();
    expect(screen.getByRole("button", { name: "Remove: Grace Hopper" })).toBeDefined();
  });
});

it("offers no role button for a member whose role follows groups, and says which", () => {
  item({ ...grace, roleFrom: "Corp" }, { canChange: true });
  expect(screen.getByText("Follows groups at Corp")).toBeDefined();
  expect(screen.queryByRole("button", { name: "Change role: Grace Hopper" })).toBeNull();
  expect(screen.getByRole("button", { name: "Suspend: Grace Hopper" })).toBeDefined();
});

describe("the list of members", () => {
  const seenAt = Date.now() - 60 * 60_000;
  const ada: MemberView = { ...grace, id: "ada", name: "Ada Lovelace", email: "ada@studio.example", role: "viewer", seenAt };
  const names = () => screen.queryAllByRole("listitem").map(({ dataset }) => dataset.member);

  it("finds members by name, address and role, and says when none match", async () => {
    const list = <MemberList viewer={{ id: "me", role: "admin" }} members={Promise.resolve(ok([grace, ada]))} />;
    await act(async () => renderInApp(<AtPage>{list}</AtPage>));
    expect(names()).toEqual(["grace", "ada"]);
    const search = screen.getByRole("searchbox", { name: "Search members" });
    fireEvent.change(search, { target: { value: " STUDIO" } });
    expect(names()).toEqual(["ada"]);
    expect(screen.getByText("1 of 2")).toBeDefined();
    fireEvent.change(screen.getByRole("combobox", { name: "Role" }), { target: { value: "operator" } });
    expect([names(), screen.queryByText("No members match") !== null]).toEqual([[], true]);
    fireEvent.click(screen.getByRole("button", { name: "Clear filters" }));
    expect(names()).toEqual(["grace", "ada"]);
  });

  it("shows when a member was last seen", () => {
    item(ada);
    expect(screen.getByText(/^Last seen/).textContent).toBe("Last seen 1 h ago");
    item(grace);
    expect(screen.getByText("Never signed in")).toBeDefined();
  });
});

it("asks before it makes Lightdesk read-only", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (_path: string, init: RequestInit) => {
    sent.push(init.body);
    return new Response(null, { status: 204 });
  });
  renderInApp(
    <AtPage>
      <ReadOnlyCard readOnly={undefined} />
    </AtPage>,
  );
  fireEvent.change(screen.getByLabelText("Note for everyone (optional)"), { target: { value: "Backup" } });
  fireEvent.click(screen.getByRole("button", { name: "Make read-only" }));
  expect(sent).toEqual([]);
  const dialog = within(screen.getByRole("dialog", { name: "Make Lightdesk read-only?" }));
  await act(async () => fireEvent.click(dialog.getByRole("button", { name: "Make read-only" })));
  expect(sent).toEqual(['{"note":"Backup"}']);
});

describe("a member's row", () => {
  it("shows name, address and role, and which one is oneself", () => {
    item(grace, { isViewer: true });
    for (const text of ["Grace Hopper", "grace@example.com", "operator", "you"]) expect(screen.getByText(text)).toBeDefined();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("says of somebody who was suspended that they are, and offers to let them in again", () => {
    item({ ...grace, disabled: true }, { canChange: true });
    expect(screen.getByText("Suspended")).toBeDefined();
    expect(screen.queryByRole("button", { name: "Suspend: Grace Hopper" })).toBeNull();
    expect(screen.getByRole("button", { name: "Let in again: Grace Hopper" })).toBeDefined();
  });
});

it("the members page says in one line to operators and viewers who may change members, and shows none", () => {
  renderInApp(<MembersScreen viewer={{ id: "me", role: "operator" }} />);
  expect(screen.getByText(/^Only owners and admins manage members\. Your role is operator\.$/)).toBeDefined();
  expect(screen.queryByRole("button")).toBeNull();
});

it("an invitation's link is shown in full beside a button that copies it, with its end and whom it is for", () => {
  const url = "https://desk.example/invitation?token=abc";
  const expiresAt = Date.parse("2026-03-08T12:00:00Z");
  renderInApp(<InvitationLink invitation={{ email: "grace@example.com", url, expiresAt }} onClose={() => undefined} />);
  const field = screen.getByRole<HTMLInputElement>("textbox", { name: "Link for grace@example.com" });
  expect(field.value).toBe(url);
  expect(field.readOnly).toBe(true);
  expect(screen.getByText(/works once, until Mar 8, 2026/)).toBeDefined();
  expect(screen.getByRole("button", { name: "Copy link" })).toBeDefined();
});

describe("a link that lets nobody in", () => {
  const reasons = ["used", "expired", "withdrawn", "unknown", "taken", "noToken"] as const;

  it("says why in other words for each reason, and leads to the sign-in", () => {
    renderInApp(reasons.map((reason) => <InvitationRefusal key={reason} reason={reason} />));
    const alerts = screen.getAllByRole("alert").map((element) => element.textContent);
    expect(new Set(alerts).size).toBe(reasons.length);
    expect(screen.getAllByRole("link", { name: "Sign in instead" })).toHaveLength(reasons.length);
  });

  it("is told apart from a fault that has nothing to do with the link", () => {
    const failure = { message: "", status: 401, code: "UNAUTHORIZED" };
    expect(invitationReason({ ...failure, details: { invitation: "expired" } })).toBe("expired");
    expect(invitationReason({ ...failure, code: "CONFLICT", status: 409 })).toBe("taken");
    expect(invitationReason({ ...failure, details: { invitation: "open" } })).toBeUndefined();
    expect(invitationReason({ ...failure, code: "INTERNAL", status: 500 })).toBeUndefined();
  });
});
