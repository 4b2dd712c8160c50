// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { invitationReason } from "@/components/auth/invitation-reason";
import { InvitationRefusal } from "@/components/auth/invitation-refusal";
import { InvitationLink } from "@/components/settings/members/invite-form";
import { MemberItem } from "@/components/settings/members/member-item";
import { mayChange, rolesToGive } from "@/components/settings/members/member-rights";
import { MembersScreen } from "@/components/settings/members/members-screen";
import { type MemberView } from "@/lib/contract/console";
import { type Role, roles } from "@/lib/contract/people/roles";
import { renderInApp } from "../render";

afterEach(cleanup);

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
