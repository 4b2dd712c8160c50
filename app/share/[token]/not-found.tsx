import { getTranslations } from "next-intl/server";
import { FullPageMessage } from "@/components/ui/empty-state";

/** Shown for all invalid links. */
export default async function ShareNotFound() {
  const t = await getTranslations("sharing.page");
  return (
    <main>
      <FullPageMessage title={t("goneTab")} text={t("gone")} />
    </main>
  );
}
