// Ordered from least to most privileged. Each role includes the rights of the roles before it. Doesn't import zod, to keep it out of the
// first page's scripts.

export const roles = ["runner", "viewer", "operator", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

export function hasRole(role: Role, requiredRole: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(requiredRole);
}

export function getWeakerRole(role: Role, otherRole: Role): Role {
  return hasRole(role, otherRole) ? otherRole : role;
}
