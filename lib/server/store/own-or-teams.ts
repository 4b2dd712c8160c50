// The rows of a table that a member may see: their own, and the team's, which name no member.

import "server-only";
import { type RawBuilder, sql, type SqlBool } from "kysely";

export function ownOrTeams(memberId: string): RawBuilder<SqlBool> {
  return sql`("member_id" is null or "member_id" = ${memberId})`;
}
