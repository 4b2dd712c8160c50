import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { AuthShell, TellConfirmed } from "@/components/auth/auth-shell";
import { openPage } from "@/lib/server/bff/open-page";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("auth.confirmed"))("title") };
}

/** Shown at the end in a tab where a member signed in again: it tells the waiting tab to go on. */
export default async function ConfirmedPage() {
  // For every role: the waiting member may be one who only runs apps.
  await openPage({ isFrame: true });
  const t = await getTranslations("auth.confirmed");
  const frame = await getTranslations("frame");
  return (
    <AuthShell product={frame("product")} title={t("title")} text={t("text")}>
      <TellConfirmed />
    </AuthShell>
  );
}
