import { fireEvent, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { getInvitationRefusalReason, InvitationForm, InvitationRefusal } from "@/components/auth/sign-up-forms";
import { canChangeMember, getAssignableRoles, MemberItem, MemberList } from "@/components/settings/members/member-list";
import { MembersScreen } from "@/components/settings/members/members-screen";
import { type MemberView } from "@/lib/contract/console";
import { type Role, roles } from "@/lib/contract/members/roles";
import { ok } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { renderScreen } from "../render-screen";

const grace: MemberView = {
  id: "grace",
  name: "Grace Hopper",
  email: "grace@example.com",
  role: "operator",
  disabled: false,
  createdAt: Date.parse("2026-02-27T12:00:00Z"),
};
const renderMember = (member: MemberView, overrides: { isViewer?: boolean; canChange?: boolean } = {}) =>
  renderInApp(
    <MemberItem
      member={member}
      isViewer={false}
      canChange={false}
      isBusy={false}
      onChangeRole={() => undefined}
      onSuspend={() => undefined}
      onReactivate={() => undefined}
      onRemove={() => undefined}
      {...overrides}
    />,
  );

it("allows changes only to members with the same or a lower role", () => {
  const getChangeableRoles = (viewer: Role) => roles.filter((role) => canChangeMember({ id: "me", role: viewer }, { id: "other", role }));
  expect(getChangeableRoles("owner")).toEqual(["runner", "viewer", "operator", "admin"]);
  expect(getChangeableRoles("admin")).toEqual(["runner", "viewer", "operator", "admin"]);
  expect(getChangeableRoles("operator")).toEqual(["runner", "viewer", "operator"]);
  expect(canChangeMember({ id: "me", role: "admin" }, { id: "me", role: "admin" })).toBe(false);
});

it("offers only the viewer's own and lower roles, never owner", () => {
  expect(getAssignableRoles({ role: "owner" })).toEqual(["runner", "viewer", "operator", "admin"]);
  expect(getAssignableRoles({ role: "operator" })).toEqual(["runner", "viewer", "operator"]);
});

describe("member list", () => {
  const seenAt = Date.now() - 60 * 60_000;
  const ada: MemberView = { ...grace, id: "ada", name: "Ada Lovelace", email: "ada@studio.example", role: "viewer", seenAt };
  const getMemberIds = () => screen.queryAllByRole("listitem").map(({ dataset }) => dataset.member);

  it("filters members by name, email address and role", async () => {
    await renderScreen(<MemberList viewer={{ id: "me", role: "admin" }} members={Promise.resolve(ok([grace, ada]))} />);
    expect(getMemberIds()).toEqual(["grace", "ada"]);
    const search = screen.getByRole("searchbox", { name: "Search members" });
    fireEvent.change(search, { target: { value: " STUDIO" } });
    expect(getMemberIds()).toEqual(["ada"]);
    expect(screen.getByText("1 of 2")).toBeDefined();
    fireEvent.change(screen.getByRole("combobox", { name: "Role" }), { target: { value: "operator" } });
    expect([getMemberIds(), screen.queryByText("No members match") !== null]).toEqual([[], true]);
    fireEvent.click(screen.getByRole("button", { name: "Clear filters" }));
    expect(getMemberIds()).toEqual(["grace", "ada"]);
  });

  it("shows when a member was last seen", () => {
    renderMember(ada);
    expect(screen.getByText(/^Last seen/).textContent).toBe("Last seen 1 h ago");
    renderMember(grace);
    expect(screen.getByText("Never signed in")).toBeDefined();
  });
});

it("shows the name, email address and role and marks the viewer", () => {
  renderMember(grace, { isViewer: true });
  for (const text of ["Grace Hopper", "grace@example.com", "operator", "you"]) expect(screen.getByText(text)).toBeDefined();
  expect(screen.queryByRole("button")).toBeNull();
});

it.each([
  ["offers to reinstate a suspended member", { disabled: true }, "Suspended", ["Change role", "Reinstate", "Remove"]],
  ["offers no role change when an identity provider sets roles", { roleFrom: "Corp" }, "Follows groups at Corp", ["Suspend", "Remove"]],
])("%s", (_, fields, text, actions) => {
  renderMember({ ...grace, ...fields }, { canChange: true });
  expect(screen.getByText(text)).toBeDefined();
  const labels = screen.getAllByRole("button").map((button) => button.getAttribute("aria-label"));
  expect(labels).toEqual(actions.map((action) => `${action}: Grace Hopper`));
});

it("explains who manages members when the role can't", () => {
  renderInApp(<MembersScreen viewer={{ id: "me", role: "operator" }} />);
  expect(screen.getByText(/^Only owners and admins manage members\. Your role is operator\.$/)).toBeDefined();
  expect(screen.queryByRole("button")).toBeNull();
});

describe("invalid invitation", () => {
  const reasons = ["used", "expired", "withdrawn", "unknown", "taken", "noToken"] as const;

  it("shows a different message for each reason and links to sign-in", () => {
    renderInApp(reasons.map((reason) => <InvitationRefusal key={reason} reason={reason} />));
    const alerts = screen.getAllByRole("alert").map((element) => element.textContent);
    expect(new Set(alerts).size).toBe(reasons.length);
    expect(screen.getAllByRole("link", { name: "Sign in instead" })).toHaveLength(reasons.length);
  });

  it("keeps typed values when the invitation was already used", async () => {
    const refusal = { code: "UNAUTHORIZED", message: "", details: { invitation: "used" } };
    vi.stubGlobal("fetch", async () => Response.json(refusal, { status: 401 }));
    renderInApp(<InvitationForm token="t" email="twice@example.com" isPasswordReset={false} />);
    const fields = { "Your name": "Second Taker", Password: "another good password" };
    for (const [label, value] of Object.entries(fields)) fireEvent.change(screen.getByLabelText(label), { target: { value } });
    fireEvent.click(screen.getByRole("button", { name: "Join" }));
    expect((await screen.findByRole("alert")).textContent).toContain("This invitation was already used");
    for (const [label, value] of Object.entries(fields)) expect(screen.getByLabelText<HTMLInputElement>(label).value).toBe(value);
  });

  it("returns a reason only for invitation errors", () => {
    const failure = { message: "", status: 401, code: "UNAUTHORIZED" };
    expect(getInvitationRefusalReason({ ...failure, details: { invitation: "expired" } })).toBe("expired");
    expect(getInvitationRefusalReason({ ...failure, code: "CONFLICT", status: 409 })).toBe("taken");
    expect(getInvitationRefusalReason({ ...failure, details: { invitation: "open" } })).toBeUndefined();
    expect(getInvitationRefusalReason({ ...failure, code: "INTERNAL", status: 500 })).toBeUndefined();
  });
});
