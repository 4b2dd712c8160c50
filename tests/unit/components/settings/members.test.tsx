import { act, fireEvent, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { getInvitationReason, InvitationForm, InvitationRefusal } from "@/components/auth/sign-up-forms";
import { assignableRoles, mayChange, MemberItem, MemberList } from "@/components/settings/members/member-list";
import { MembersScreen } from "@/components/settings/members/members-screen";
import { type MemberView } from "@/lib/contract/console";
import { type Role, roles } from "@/lib/contract/people/roles";
import { ok } from "@/lib/shared/result";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "../render";

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

describe("actions for a member", () => {
  it("excludes oneself, the owner and stronger members", () => {
    const changeableRoles = (viewer: Role) => roles.filter((role) => mayChange({ id: "me", role: viewer }, { id: "other", role }));
    expect(changeableRoles("owner")).toEqual(["runner", "viewer", "operator", "admin"]);
    expect(changeableRoles("admin")).toEqual(["runner", "viewer", "operator", "admin"]);
    expect(changeableRoles("operator")).toEqual(["runner", "viewer", "operator"]);
    expect(mayChange({ id: "me", role: "admin" }, { id: "me", role: "admin" })).toBe(false);
  });

  it("excludes higher roles and the owner's", () => {
    expect(assignableRoles({ role: "owner" })).toEqual(["runner", "viewer", "operator", "admin"]);
    expect(assignableRoles({ role: "operator" })).toEqual(["runner", "viewer", "operator"]);
  });
});

it("offers no role button when groups set the role and names them", () => {
  item({ ...grace, roleFrom: "Corp" }, { canChange: true });
  expect(screen.getByText("Follows groups at Corp")).toBeDefined();
  expect(screen.queryByRole("button", { name: "Change role: Grace Hopper" })).toBeNull();
  expect(screen.getByRole("button", { name: "Suspend: Grace Hopper" })).toBeDefined();
});

describe("the list of members", () => {
  const seenAt = Date.now() - 60 * 60_000;
  const ada: MemberView = { ...grace, id: "ada", name: "Ada Lovelace", email: "ada@studio.example", role: "viewer", seenAt };
  const names = () => screen.queryAllByRole("listitem").map(({ dataset }) => dataset.member);

  it("finds members by name, address and role and reports no matches", async () => {
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

describe("a member's row", () => {
  it("shows name, address and role and marks oneself", () => {
    item(grace, { isViewer: true });
    for (const text of ["Grace Hopper", "grace@example.com", "operator", "you"]) expect(screen.getByText(text)).toBeDefined();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("marks a suspended member and offers to restore access", () => {
    item({ ...grace, disabled: true }, { canChange: true });
    expect(screen.getByText("Suspended")).toBeDefined();
    expect(screen.queryByRole("button", { name: "Suspend: Grace Hopper" })).toBeNull();
    expect(screen.getByRole("button", { name: "Reinstate: Grace Hopper" })).toBeDefined();
  });
});

it("explains to operators and viewers who may change members", () => {
  renderInApp(<MembersScreen viewer={{ id: "me", role: "operator" }} />);
  expect(screen.getByText(/^Only owners and admins manage members\. Your role is operator\.$/)).toBeDefined();
  expect(screen.queryByRole("button")).toBeNull();
});

describe("a link that does not work", () => {
  const reasons = ["used", "expired", "withdrawn", "unknown", "taken", "noToken"] as const;

  it("explains each reason differently and links to the sign-in", () => {
    renderInApp(reasons.map((reason) => <InvitationRefusal key={reason} reason={reason} />));
    const alerts = screen.getAllByRole("alert").map((element) => element.textContent);
    expect(new Set(alerts).size).toBe(reasons.length);
    expect(screen.getAllByRole("link", { name: "Sign in instead" })).toHaveLength(reasons.length);
  });

  it("keeps typed values when it was used meanwhile", async () => {
    const refusal = { code: "UNAUTHORIZED", message: "", details: { invitation: "used" } };
    vi.stubGlobal("fetch", async () => Response.json(refusal, { status: 401 }));
    renderInApp(<InvitationForm token="t" email="twice@example.com" resets={false} />);
    const typed = { "Your name": "Second Taker", Password: "another good password" };
    for (const [label, value] of Object.entries(typed)) fireEvent.change(screen.getByLabelText(label), { target: { value } });
    fireEvent.click(screen.getByRole("button", { name: "Join" }));
    expect((await screen.findByRole("alert")).textContent).toContain("This invitation was already used");
    for (const [label, value] of Object.entries(typed)) expect(screen.getByLabelText<HTMLInputElement>(label).value).toBe(value);
  });

  it("is distinguished from unrelated faults", () => {
    const failure = { message: "", status: 401, code: "UNAUTHORIZED" };
    expect(getInvitationReason({ ...failure, details: { invitation: "expired" } })).toBe("expired");
    expect(getInvitationReason({ ...failure, code: "CONFLICT", status: 409 })).toBe("taken");
    expect(getInvitationReason({ ...failure, details: { invitation: "open" } })).toBeUndefined();
    expect(getInvitationReason({ ...failure, code: "INTERNAL", status: 500 })).toBeUndefined();
  });
});
