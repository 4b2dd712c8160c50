// A user of the service: the owner of jobs, assets and files. Waitlisted users may read everything of theirs and submit nothing.

import { type UserStatus } from "../options";

export type User = { id: number; name: string; status: UserStatus };

/** The owner of public assets: no user has this id. */
export const PUBLIC_OWNER = 0;

/** An unknown word in the store withholds rights instead of granting them. */
export function toUserStatus(word: string): UserStatus {
  return word === "active" ? "active" : "waitlisted";
}
