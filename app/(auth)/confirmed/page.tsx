import { getTranslations } from "next-intl/server";
import { AuthShell, TellConfirmed } from "@/components/auth/auth-shell";
import { openPage } from "@/lib/server/bff/open-page";
import { pageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = pageTitle("auth.confirmed.title");

/** Shown in the tab where a member signed in again, so that the waiting tab continues. */
export default async function ConfirmedPage() {
  // For all roles, because the waiting member may only run apps.
  await openPage({ isFrame: true });
  const t = await getTranslations("auth.confirmed");
  const frame = await getTranslations("frame");
  return (
    <AuthShell product={frame("product")} title={t("title")} text={t("text")}>
      <TellConfirmed />
    </AuthShell>
  );
}
