// Weakest first; each role may do all that the weaker ones may. Free of zod: part of the first load.

export const roles = ["runner", "viewer", "operator", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

export function hasRole(actual: Role, needed: Role): boolean {
  return roles.indexOf(actual) >= roles.indexOf(needed);
}

export function weaker(value: Role, other: Role): Role {
  return hasRole(value, other) ? other : value;
}
