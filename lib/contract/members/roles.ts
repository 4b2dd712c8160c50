// Ordered from weakest to strongest. Each role includes the rights of the weaker ones. Does not import zod, for the first page.

export const roles = ["runner", "viewer", "operator", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

export function hasRole(actual: Role, required: Role): boolean {
  return roles.indexOf(actual) >= roles.indexOf(required);
}

export function getWeakerRole(value: Role, other: Role): Role {
  return hasRole(value, other) ? other : value;
}
