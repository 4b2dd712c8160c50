import Link from "next/link";
import { useTranslations } from "next-intl";
import { buttonStyle } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { assetsHref, isFiltered, unfiltered } from "./assets-address";

type AssetsEmptyProps = { query: AssetsQuery; connection?: string; canUpload: boolean };

export function AssetsEmpty({ query, connection, canUpload }: AssetsEmptyProps) {
  const t = useTranslations("assets");
  const action = (href: string, label: string) => (
    <Link href={href} className={buttonStyle()}>
      {label}
    </Link>
  );
  if (query.offset > 0) {
    const first = assetsHref(query, { offset: 0, connection });
    return <EmptyState title={t("empty.pastEnd")} text={t("empty.pastEndText")} action={action(first, t("empty.firstPage"))} />;
  }
  if (isFiltered(query)) {
    const all = assetsHref(query, { ...unfiltered, connection });
    return <EmptyState title={t("empty.filteredTitle")} text={t("empty.filteredText")} action={action(all, t("filter.reset"))} />;
  }
  return <EmptyState title={t("empty.title")} text={t("empty.text")} action={canUpload ? action("/run", t("empty.run")) : undefined} />;
}
