import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { AuthShell } from "@/components/auth/auth-shell";
import { TellConfirmed } from "@/components/auth/tell-confirmed";
import { requireViewer } from "@/lib/server/auth/viewer";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("auth.confirmed"))("title") };
}

/** The end of a tab in which a member signed in again: the tab that waits for it goes on. */
export default async function ConfirmedPage() {
  // Whatever their role: whoever waits for it may run apps only.
  await requireViewer({ isFrame: true });
  const t = await getTranslations("auth.confirmed");
  const frame = await getTranslations("frame");
  return (
    <AuthShell product={frame("product")} title={t("title")} text={t("text")}>
      <TellConfirmed />
    </AuthShell>
  );
}
