type Page = { offset: number; limit: number; count: number; total?: number; hasMore?: boolean; nextOffset?: number };

/** The rows of this page, and where its neighbours begin. Without a total, a full page suggests another one unless the service says no. */
export function pageRange({ offset, limit, count, total, hasMore, nextOffset = offset + limit }: Page): {
  from: number;
  to: number;
  previous?: number;
  next?: number;
} {
  const isMore = total !== undefined ? nextOffset < total : nextOffset < offset + limit || (hasMore ?? count >= limit);
  const isBeyond = total !== undefined && offset >= total;
  return {
    from: count === 0 ? offset : offset + 1,
    to: offset + count,
    ...(offset > 0 && { previous: isBeyond ? lastOffset(total, limit) : Math.max(0, offset - limit) }),
    ...(isMore && { next: nextOffset }),
  };
}

/** Where the last page begins. */
export function lastOffset(total: number, limit: number): number {
  return Math.max(0, Math.ceil(total / limit) - 1) * limit;
}
