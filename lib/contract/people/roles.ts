// The roles of a team member, weakest first. Each role may do all that the weaker ones may; a runner runs apps and sees nothing else.
// Free of zod: it is part of the browser's first load.

export const roles = ["runner", "viewer", "operator", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

export function hasRole(actual: Role, needed: Role): boolean {
  return roles.indexOf(actual) >= roles.indexOf(needed);
}

export function weaker(one: Role, other: Role): Role {
  return hasRole(one, other) ? other : one;
}
