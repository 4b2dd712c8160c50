import { getTranslations } from "next-intl/server";
import { AuthShell, BroadcastConfirmation } from "@/components/auth/auth-shell";
import { openPage } from "@/lib/server/bff/open-page";
import { createPageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = createPageTitle("auth.confirmed.title");

/** Shown in the tab where a member signed in again, so that the waiting tab continues. */
export default async function ConfirmedPage() {
  // Open to all roles, because the member may only run apps.
  await openPage({ isFrame: true });
  const t = await getTranslations("auth.confirmed");
  const frame = await getTranslations("frame");
  return (
    <AuthShell product={frame("product")} title={t("title")} text={t("text")}>
      <BroadcastConfirmation />
    </AuthShell>
  );
}
