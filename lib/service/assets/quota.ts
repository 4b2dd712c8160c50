// The storage of one user: the bytes of distinct content that the user's assets refer to, against the quota where one is set.
// Guarantees: content that the user has already needs no room, so that sending it again stays a no-op at the limit too.

import { ServiceError } from "../service-error";
import { type Database, query } from "../store/database";
import { PUBLIC_OWNER } from "../users/user";

export function usedBytes(database: Database, userId: number): number {
  return database.row(query.selectFrom("user_storage").select("bytes").where("owner_id", "=", userId))?.bytes ?? 0;
}

/** Inside the commit that adds the asset. */
export function requireRoom(database: Database, userId: number, content: { hash: string; size: number }): void {
  const refusal = refusalOf(database, userId, content);
  if (refusal) throw refusal;
}

/** Undefined where the content fits, or is there already. */
export function refusalOf(database: Database, userId: number, content: { hash: string; size: number }): ServiceError | undefined {
  const quota = database.limits.userQuotaBytes;
  if (quota === undefined || userId === PUBLIC_OWNER) return undefined;
  const used = usedBytes(database, userId);
  if (used + content.size <= quota) return undefined;
  const own = query.selectFrom("assets").select("seq").where("hash", "=", content.hash).where("owner_id", "=", userId).limit(1);
  return database.row(own) ? undefined : quotaExceeded(used, quota);
}

/** The most bytes of one file that may still turn out to fit: what is left, or as much as the largest that is there already. */
export function roomFor(database: Database, userId: number): number {
  const quota = database.limits.userQuotaBytes;
  if (quota === undefined) return Infinity;
  const largest = database.row(
    query
      .selectFrom("assets")
      .select(({ fn }) => fn.max("size").as("size"))
      .where("owner_id", "=", userId),
  );
  return Math.max(quota - usedBytes(database, userId), Number(largest?.size ?? 0));
}

/** For work whose size is not known yet: refused where nothing at all fits any more. */
export function requireSomeRoom(database: Database, userId: number): void {
  const quota = database.limits.userQuotaBytes;
  const used = quota === undefined ? 0 : usedBytes(database, userId);
  if (quota !== undefined && used >= quota) throw quotaExceeded(used, quota);
}

export function quotaExceeded(used: number, quota: number): ServiceError {
  const message = `This would go beyond your storage of ${quota} bytes, of which ${used} are used. Delete assets that you no longer need, or ask for a higher quota.`;
  return new ServiceError("STORAGE_QUOTA_EXCEEDED", message, { used_bytes: used, quota_bytes: quota });
}
