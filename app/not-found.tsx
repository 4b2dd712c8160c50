import { getTranslations } from "next-intl/server";
import { buttonStyle } from "@/components/ui/controls/button";
import { WholePageNote } from "@/components/ui/empty-state";
import { apiPath } from "@/lib/browser/urls";
import { pageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = pageTitle("frame.notFound.tab");

export default async function NotFound() {
  const t = await getTranslations("frame.notFound");
  return (
    <main>
      <WholePageNote
        title={t("title")}
        text={t("text")}
        action={
          // Not a Link, because every page loads this page's code, and would load that of Link twice.
          <a href={apiPath("/")} className={buttonStyle()}>
            {t("action")}
          </a>
        }
      />
    </main>
  );
}
