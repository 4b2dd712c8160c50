import { getTranslations } from "next-intl/server";
import { buttonStyle } from "@/components/ui/controls/button";
import { FullPageMessage } from "@/components/ui/empty-state";
import { apiPath } from "@/lib/browser/urls";
import { createPageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = createPageTitle("frame.notFound.tab");

export default async function NotFound() {
  const t = await getTranslations("frame.notFound");
  return (
    <main>
      <FullPageMessage
        title={t("title")}
        text={t("text")}
        action={
          // Not a Link, because every page loads this page's code and would load the code of Link twice.
          <a href={apiPath("/")} className={buttonStyle()}>
            {t("action")}
          </a>
        }
      />
    </main>
  );
}
