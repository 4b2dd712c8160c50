import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { buttonStyle } from "@/components/ui/controls/button";
import { useNumber } from "@/components/ui/hooks/use-numbers";
import { Link } from "@/components/ui/link";
import { pageRange } from "./page-range";

type PagingProps = {
  offset: number;
  limit: number;
  /** Rows on this page. */
  count: number;
  total?: number;
  hasMore?: boolean;
  /** The next offset, if this page is shorter than the others. */
  nextOffset?: number;
  hrefOf: (offset: number) => string;
  /** Replaces the plain text "100 per page" by controls. */
  children?: ReactNode;
  className?: string;
};

/** Real links, so that a page of the list can be reloaded, sent and opened in a new tab. */
export function Paging({ offset, limit, count, total, hasMore, nextOffset, hrefOf, children, className }: PagingProps) {
  const t = useTranslations("common.paging");
  const number = useNumber();
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
        <Step label={t("previous")} href={previous === undefined ? undefined : hrefOf(previous)}>
          ‹
        </Step>
        <Step label={t("next")} href={next === undefined ? undefined : hrefOf(next)}>
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
