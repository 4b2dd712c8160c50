import { useTranslations } from "next-intl";
import { type ListState } from "@/components/frame/list/use-list-state";
import { Select } from "@/components/ui/controls/select";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { sortings } from "../assets-address";

/** All five fields, in both directions, under everyday names. */
export function SortSelect({ place: { query, go } }: { place: ListState<AssetsQuery> }) {
  const t = useTranslations("assets");
  const sorting = sortings.find(({ sort, order }) => sort === query.sort && order === query.order);
  return (
    <Select
      aria-label={t("filter.sort")}
      value={sorting?.key ?? ""}
      onChange={({ currentTarget }) => {
        const chosen = sortings.find(({ key }) => key === currentTarget.value);
        if (chosen) go({ sort: chosen.sort, order: chosen.order });
      }}
      className="max-w-[126px] shrink-0 border-transparent bg-transparent text-ink-3 max-sm:text-[13px]"
    >
      {sortings.map(({ key }) => (
        <option key={key} value={key}>
          {t(`sort.${key}`)}
        </option>
      ))}
    </Select>
  );
}
