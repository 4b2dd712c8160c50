import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
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
  /** Replaces the plain text "100 per page" by controls. */
  children?: ReactNode;
  className?: string;
};

/** Real links, so that a page can be reloaded, shared and opened in a new tab. */
export function Paging({ offset, limit, count, total, hasMore, nextOffset, getHref, children, className }: PagingProps) {
  const t = useTranslations("common.paging");
  const number = useNumberFormat();
  const { from, to, previous, next } = pageRange({ offset, limit, count, total, hasMore, nextOffset });
  const words = { from: number(from), to: number(to), total: number(total ?? 0) };
  const range = () => {
    if (count > 0) return total === undefined ? t("rangeOpen", words) : t("range", words);
    if (total === undefined) return t("noneOpen");
    return total > 0 ? t("noneOf", words) : t("none");
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
      <span className="flex-1 whitespace-nowrap">{range()}</span>
      {children ?? <span>{t("perPage", { count: limit })}</span>}
      <span className="ml-auto flex gap-3">
        <Step label={t("previous")} href={previous === undefined ? undefined : getHref(previous)}>
          ‹
        </Step>
        <Step label={t("next")} href={next === undefined ? undefined : getHref(next)}>
          ›
        </Step>
      </span>
    </nav>
  );
}

function Step({ label, href, children }: { label: string; href?: string; children: ReactNode }) {
  const style = buttonStyle({ size: "small-icon" });
  if (href === undefined) {
    return (
      <span role="link" aria-disabled="true" aria-label={label} className={style}>
        {children}
      </span>
    );
  }
  return (
    <Link href={href} aria-label={label} className={style}>
      {children}
    </Link>
  );
}

const sizes = [25, 50, 100, 250, 500, 1000];

type PageControlsProps = {
  offset: number;
  limit: number;
  total?: number;
  /** Maximum rows per response. */
  maxLimit?: number;
  onGo: (change: { offset: number; limit?: number }) => void;
};

/** The number of rows per page, and a jump to any page. When the size changes, the first visible row stays on the page. */
export function PageControls({ offset, limit, total, maxLimit = 1000, onGo }: PageControlsProps) {
  const t = useTranslations("common.paging");
  const number = useNumberFormat();
  const page = Math.floor(offset / limit) + 1;
  const pages = total === undefined ? undefined : Math.max(1, Math.ceil(total / limit));
  const choices = [...new Set([...sizes.filter((size) => size <= maxLimit), limit])].sort((a, b) => a - b);
  return (
    <>
      <Select
        aria-label={t("size")}
        value={limit}
        onChange={({ currentTarget: { value } }) =>
          onGo({ limit: Number(value), offset: Math.floor(offset / Number(value)) * Number(value) })
        }
      >
        <Options of={choices.map((size) => [size, t("perPage", { count: size })])} />
      </Select>
      {pages !== undefined && pages > 1 ? (
        <form
          className="flex items-center gap-1.5 whitespace-nowrap"
          onSubmit={(event) => {
            event.preventDefault();
            const pageNumber = Number(new FormData(event.currentTarget).get("page"));
            if (Number.isInteger(pageNumber)) onGo({ offset: (Math.min(pages, Math.max(1, pageNumber)) - 1) * limit });
          }}
        >
          <Input
            key={page}
            name="page"
            inputMode="numeric"
            aria-label={t("page")}
            defaultValue={Math.min(page, pages)}
            className="w-14 text-right"
          />
          {t("ofPages", { count: number(pages) })}
        </form>
      ) : null}
    </>
  );
}

type Page = { offset: number; limit: number; count: number; total?: number; hasMore?: boolean; nextOffset?: number };

/** The rows of this page and its neighbours' offsets. Without a total, a full page implies a next one unless the service denies it. */
export function pageRange({ offset, limit, count, total, hasMore, nextOffset = offset + limit }: Page): {
  from: number;
  to: number;
  previous?: number;
  next?: number;
} {
  const hasNext = total !== undefined ? nextOffset < total : nextOffset < offset + limit || (hasMore ?? count >= limit);
  const isBeyond = total !== undefined && offset >= total;
  return {
    from: count === 0 ? offset : offset + 1,
    to: offset + count,
    ...(offset > 0 && { previous: isBeyond ? lastOffset(total, limit) : Math.max(0, offset - limit) }),
    ...(hasNext && { next: nextOffset }),
  };
}

/** The offset of the last page. */
export function lastOffset(total: number, limit: number): number {
  return Math.max(0, Math.ceil(total / limit) - 1) * limit;
}
