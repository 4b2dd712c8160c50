import { useTranslations } from "next-intl";
import { type ListState } from "@/components/frame/list/use-list-state";
import { buttonStyle } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { isFiltered, unfiltered } from "./assets-address";

type AssetsEmptyProps = { place: Pick<ListState<AssetsQuery>, "query" | "hrefOf">; canChange: boolean };

export function AssetsEmpty({ place: { query, hrefOf }, canChange }: AssetsEmptyProps) {
  const t = useTranslations("assets");
  const action = (href: string, label: string) => (
    <Link href={href} className={buttonStyle()}>
      {label}
    </Link>
  );
  if (query.offset > 0)
    return (
      <EmptyState title={t("empty.pastEnd")} text={t("empty.pastEndText")} action={action(hrefOf({ offset: 0 }), t("empty.firstPage"))} />
    );
  if (isFiltered(query)) {
    return (
      <EmptyState title={t("empty.filteredTitle")} text={t("empty.filteredText")} action={action(hrefOf(unfiltered), t("filter.reset"))} />
    );
  }
  return <EmptyState title={t("empty.title")} text={t("empty.text")} action={canChange ? action("/run", t("empty.run")) : undefined} />;
}
