import { useTranslations } from "next-intl";
import { type ReactNode, useRef } from "react";
import { cn } from "@/components/ui/cn";
import { buttonStyle } from "@/components/ui/controls/button";
import { Input, Options, Select } from "@/components/ui/controls/fields";
import { Link } from "@/components/ui/link";
import { useNumberFormat } from "@/components/ui/time";

type PagingProps = {
  offset: number;
  limit: number;
  count: number;
  total?: number;
  hasMore?: boolean;
  /** The next offset, if this page is shorter than the others. */
  nextOffset?: number;
  getHref: (offset: number) => string;
  /** Replaces the plain text "100 per page" with controls. */
  children?: ReactNode;
  className?: string;
};

/** Uses links, so that a page can be reloaded, shared and opened in a new tab. */
export function Paging({ offset, limit, count, total, hasMore, nextOffset, getHref, children, className }: PagingProps) {
  const t = useTranslations("common.paging");
  const formatNumber = useNumberFormat();
  const { from, to, previous, next } = getPageRange({ offset, limit, count, total, hasMore, nextOffset });
  const values = { from: formatNumber(from), to: formatNumber(to), total: formatNumber(total ?? 0) };
  const getRangeText = () => {
    if (count > 0) return total === undefined ? t("rangeOpen", values) : t("range", values);
    if (total === undefined) return t("noneOpen");
    return total > 0 ? t("noneOf", values) : t("none");
  };
  return (
    <nav
      data-lower-edge=""
      aria-label={t("label")}
      className={cn(
        "flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-t border-line bg-bg px-4 py-1.5 text-ink-3 md:px-5",
        className,
      )}
    >
      <span className="flex-1 whitespace-nowrap">{getRangeText()}</span>
      {children ?? <span>{t("perPage", { count: limit })}</span>}
      <span className="ml-auto flex gap-3">
        <StepLink label={t("previous")} href={previous === undefined ? undefined : getHref(previous)}>
          ‹
        </StepLink>
        <StepLink label={t("next")} href={next === undefined ? undefined : getHref(next)}>
          ›
        </StepLink>
      </span>
    </nav>
  );
}

function StepLink({ label, href, children }: { label: string; href?: string; children: ReactNode }) {
  // Keeps the focus when the first or last page replaces the link with a disabled one.
  const hasFocus = useRef(false);
  const props = {
    "aria-label": label,
    className: buttonStyle({ size: "small-icon" }),
    onFocus: () => void (hasFocus.current = true),
    onBlur: () => void (hasFocus.current = false),
    ref: (element: HTMLElement | null) => (hasFocus.current ? element?.focus() : undefined),
    children,
  };
  return href === undefined ? <span {...props} role="link" aria-disabled="true" tabIndex={-1} /> : <Link {...props} href={href} />;
}

const pageSizes = [25, 50, 100, 250, 500, 1000];

type PageControlsProps = {
  offset: number;
  limit: number;
  total?: number;
  /** Maximum rows per response. */
  maxLimit?: number;
  onNavigate: (change: { offset: number; limit?: number }) => void;
};

/** The number of rows per page, and a jump to any page. When the size changes, the first visible row stays on the page. */
export function PageControls({ offset, limit, total, maxLimit = 1000, onNavigate }: PageControlsProps) {
  const t = useTranslations("common.paging");
  const formatNumber = useNumberFormat();
  const page = Math.floor(offset / limit) + 1;
  const pageCount = total === undefined ? undefined : Math.max(1, Math.ceil(total / limit));
  const sizes = [...new Set([...pageSizes.filter((size) => size <= maxLimit), limit])].sort((a, b) => a - b);
  return (
    <>
      <Select
        aria-label={t("size")}
        value={limit}
        onChange={({ currentTarget: { value } }) =>
          onNavigate({ limit: Number(value), offset: Math.floor(offset / Number(value)) * Number(value) })
        }
      >
        <Options of={sizes.map((size) => [size, t("perPage", { count: size })])} />
      </Select>
      {pageCount !== undefined && pageCount > 1 ? (
        <form
          className="flex items-center gap-1.5 whitespace-nowrap"
          onSubmit={(event) => {
            event.preventDefault();
            const pageNumber = Number(new FormData(event.currentTarget).get("page"));
            if (Number.isInteger(pageNumber)) onNavigate({ offset: (Math.min(pageCount, Math.max(1, pageNumber)) - 1) * limit });
          }}
        >
          <Input
            key={page}
            name="page"
            inputMode="numeric"
            aria-label={t("page")}
            defaultValue={Math.min(page, pageCount)}
            className="w-14 text-right"
          />
          {t("ofPages", { count: formatNumber(pageCount) })}
        </form>
      ) : null}
    </>
  );
}

type PageQuery = { offset: number; limit: number; count: number; total?: number; hasMore?: boolean; nextOffset?: number };

/** Returns the rows of this page, and the offsets of the previous and next page. Without a total, a full page implies a next one. */
export function getPageRange({ offset, limit, count, total, hasMore, nextOffset = offset + limit }: PageQuery): {
  from: number;
  to: number;
  previous?: number;
  next?: number;
} {
  const hasNext = total !== undefined ? nextOffset < total : nextOffset < offset + limit || (hasMore ?? count >= limit);
  const isPastEnd = total !== undefined && offset >= total;
  return {
    from: count === 0 ? offset : offset + 1,
    to: offset + count,
    ...(offset > 0 && { previous: isPastEnd ? getLastOffset(total, limit) : Math.max(0, offset - limit) }),
    ...(hasNext && { next: nextOffset }),
  };
}

/** The offset of the last page. */
export function getLastOffset(total: number, limit: number): number {
  return Math.max(0, Math.ceil(total / limit) - 1) * limit;
}
