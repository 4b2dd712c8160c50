// The storage quota of a user, by distinct content. Content that the user already has doesn't count again.

import { ServiceError } from "../service-error";
import { query, type Reader, type StoreLimits, type Transaction } from "../store/database";
import { PUBLIC_OWNER } from "../users/keys";

type LimitedReader = Reader & { readonly limits: StoreLimits };

export async function readUsedBytes(reader: Reader, userId: number): Promise<number> {
  return (await reader.row(query.selectFrom("user_storage").select("bytes").where("owner_id", "=", userId)))?.bytes ?? 0;
}

export async function requireQuota(tx: Transaction, userId: number, content: { hash: string; size: number }): Promise<void> {
  const error = await checkQuota(tx, userId, content);
  if (error) throw error;
}

/** Returns undefined if the content fits or the user already has it. `reservedBytes` is the size of content about to be stored. */
export async function checkQuota(
  reader: LimitedReader,
  userId: number,
  content: { hash: string; size: number },
  reservedBytes = 0,
): Promise<ServiceError | undefined> {
  const quota = reader.limits.userQuotaBytes;
  if (quota === undefined || userId === PUBLIC_OWNER) return undefined;
  const usedBytes = (await readUsedBytes(reader, userId)) + reservedBytes;
  if (usedBytes + content.size <= quota) return undefined;
  const ownAsset = query.selectFrom("assets").select("seq").where("hash", "=", content.hash).where("owner_id", "=", userId).limit(1);
  return (await reader.row(ownAsset)) ? undefined : createQuotaExceededError(usedBytes, quota);
}

/** Returns the size of the largest file that may still fit: the remaining quota, or the size of the user's largest file. */
export async function getRemainingQuota(reader: LimitedReader, userId: number, reservedBytes = 0): Promise<number> {
  const quota = reader.limits.userQuotaBytes;
  if (quota === undefined) return Infinity;
  const largestAsset = await reader.row(
    query
      .selectFrom("assets")
      .select(({ fn }) => fn.max("size").as("size"))
      .where("owner_id", "=", userId),
  );
  return Math.max(quota - (await readUsedBytes(reader, userId)) - reservedBytes, Number(largestAsset?.size ?? 0));
}

export async function requireFreeQuota(reader: LimitedReader, userId: number): Promise<void> {
  const quota = reader.limits.userQuotaBytes;
  const usedBytes = quota === undefined ? 0 : await readUsedBytes(reader, userId);
  if (quota !== undefined && usedBytes >= quota) throw createQuotaExceededError(usedBytes, quota);
}

export function createQuotaExceededError(usedBytes: number, quotaBytes: number): ServiceError {
  const message = `This would exceed your storage quota of ${quotaBytes} bytes, of which ${usedBytes} are used. Delete assets that you no longer need, or ask for a higher quota.`;
  return new ServiceError("STORAGE_QUOTA_EXCEEDED", message, { used_bytes: usedBytes, quota_bytes: quotaBytes });
}
