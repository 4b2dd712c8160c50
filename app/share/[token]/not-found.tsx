import { getTranslations } from "next-intl/server";
import { WholePageNote } from "@/components/ui/empty-state";

/** The same for all invalid links. */
export default async function NoShare() {
  const t = await getTranslations("sharing.page");
  return (
    <main>
      <WholePageNote title={t("goneTab")} text={t("gone")} />
    </main>
  );
}
