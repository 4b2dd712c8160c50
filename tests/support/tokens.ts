// Creates personal access tokens for the harness's members, with any expiry or connection.
import { randomBytes } from "node:crypto";
import { type Role } from "@/lib/contract/members/roles";
import { type NewToken, type Token } from "@/lib/server/store/people/tokens";
import { type Harness } from "./harness";

export type CreatedToken = Token & { token: string; headers: { "x-api-key": string } };

/** Defaults to the member's role, all operations, the built-in service and no expiry. */
export async function createAccessToken(harness: Harness, role: Role, options: Partial<NewToken> = {}): Promise<CreatedToken> {
  const { store, now } = harness.console;
  const token = `ld_${randomBytes(32).toString("hex")}`;
  const result = await store.tokens.create({
    token,
    memberId: harness.getViewer(role).memberId,
    name: `a token of ${role} ${token.slice(3, 11)}`,
    role,
    connectionId: "embedded",
    connectionIds: undefined,
    operations: "all",
    createdAt: now(),
    expiresAt: undefined,
    ...options,
  });
  if (typeof result === "string") throw new Error(`the store returned ${result}`);
  return { ...result, token, headers: { "x-api-key": token } };
}
