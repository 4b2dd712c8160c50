// Ordered from weakest to strongest. Each role includes the rights of the weaker ones. Does not import zod, for the first page.

export const roles = ["runner", "viewer", "operator", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

export function hasRole(role: Role, requiredRole: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(requiredRole);
}

export function getWeakerRole(role: Role, otherRole: Role): Role {
  return hasRole(role, otherRole) ? otherRole : role;
}
