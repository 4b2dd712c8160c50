import { useTranslations } from "next-intl";
import { PageControls } from "@/components/data-table/page-controls";
import { Paging } from "@/components/data-table/paging";
import { type ListState } from "@/components/frame/list/use-list-state";
import { Button } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/input";
import { useNumber } from "@/components/ui/hooks/use-numbers";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetsLook } from "./assets-look";
import { MOST_AT_ONCE } from "./read-assets";
import { type AssetsSource } from "./wall/assets-source";

type AssetsFooterProps = {
  source: AssetsSource;
  hasMore: boolean | undefined;
  by: AssetsLook["by"];
  place: ListState<AssetsQuery>;
  /** The first visible one, counted from 0. */
  firstIndex: number;
  onBy: (by: AssetsLook["by"]) => void;
  onJump: (index: number) => void;
  onSelectAll: () => void;
};

/** On a phone it is above the navigation, as the end of a long list cannot be reached by scrolling. */
const bar =
  "sticky bottom-[calc(49px+env(safe-area-inset-bottom))] z-20 mt-auto flex h-11 shrink-0 items-center gap-3 border-t border-line bg-bg px-4 text-ink-3 md:bottom-0 md:px-5";

/** The position in the list, and ways to another part of it: page by page, or one long list with a jump. */
export function AssetsFooter({ source, hasMore, by, place, firstIndex, onBy, onJump, onSelectAll }: AssetsFooterProps) {
  const t = useTranslations("assets.foot");
  const number = useNumber();
  const { query } = place;
  const { count, total } = source;
  const buttons = (
    <>
      <Button size="small" onClick={onSelectAll} className="max-sm:hidden">
        {t(by === "pages" ? "selectPage" : "selectView")}
      </Button>
      <Button size="small" onClick={() => onBy(by === "pages" ? "endless" : "pages")}>
        {t(by === "pages" ? "toEndless" : "toPages")}
      </Button>
    </>
  );
  if (by === "pages") {
    return (
      <Paging
        offset={query.offset}
        limit={query.limit}
        count={count}
        total={total}
        hasMore={hasMore}
        hrefOf={(offset) => place.hrefOf({ offset })}
        className="mt-auto md:sticky md:bottom-0 md:z-20"
      >
        {buttons}
        <PageControls offset={query.offset} limit={query.limit} total={total} most={MOST_AT_ONCE} onGo={place.go} />
      </Paging>
    );
  }
  const at = Math.min(count, firstIndex + 1);
  return (
    <nav data-lower-edge="" aria-label={t("label")} className={bar}>
      <span className="flex-1 truncate tabular-nums">
        {total === undefined
          ? t("placeOpen", { at: number(at) })
          : at <= 1
            ? t("all", { count: total })
            : t("place", { at: number(at), total: number(total) })}
      </span>
      {buttons}
      <form
        className="flex items-center gap-1.5 whitespace-nowrap"
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = Number(String(new FormData(event.currentTarget).get("place")).replaceAll(/\D/g, ""));
          if (wanted > 0) onJump(Math.min(count, wanted) - 1);
        }}
      >
        <label className="flex items-center gap-1.5">
          {t("jump")}
          <Input name="place" inputMode="numeric" autoComplete="off" placeholder={number(1)} className="w-[88px] text-right" />
        </label>
        <Button type="submit" size="small" className="max-sm:hidden">
          {t("go")}
        </Button>
      </form>
    </nav>
  );
}
