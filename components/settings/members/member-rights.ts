import { type MemberView } from "@/lib/contract/console";
import { hasRole, type Role, roles } from "@/lib/contract/people/roles";

export type SettingsViewer = { id: string; role: Role };
export type GivenRole = Exclude<Role, "owner">;

/** Offers only what the console would allow: not on oneself, the owner, or a member with a higher role. */
export function mayChange(viewer: SettingsViewer, member: Pick<MemberView, "id" | "role">): boolean {
  return member.id !== viewer.id && member.role !== "owner" && hasRole(viewer.role, member.role);
}

/** Weakest first, none above the viewer's own. */
export function rolesToGive(viewer: Pick<SettingsViewer, "role">): GivenRole[] {
  return roles.flatMap((role) => (role !== "owner" && hasRole(viewer.role, role) ? [role] : []));
}
