import { type Metadata } from "next";
import Link from "next/link";
import { connection } from "next/server";
import { getTranslations } from "next-intl/server";
import { AuthShell } from "@/components/auth/auth-shell";
import { SetUpForm } from "@/components/auth/set-up-form";
import { PageMessages } from "@/components/frame/page-messages";
import { buttonStyle } from "@/components/ui/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

// The token stands in the address: no other site may learn it from a referrer.
export const metadata: Metadata = { title: "Set up", referrer: "no-referrer" };

export default async function SetUpPage({ searchParams }: PageProps<"/set-up">) {
  await connection();
  const { token } = await searchParams;
  const t = await getTranslations("auth.setUp");
  const frame = await getTranslations("frame");
  return (
    <PageMessages messages={await pickMessages("auth")}>
      <AuthShell product={frame("product")} title={t("title")} text={t("text")}>
        {typeof token === "string" && token !== "" ? (
          <SetUpForm token={token} />
        ) : (
          <FailureNotice
            title={t("noToken.title")}
            next={t("noToken.text")}
            actions={
              <Link href="/sign-in" className={buttonStyle()}>
                {t("toSignIn")}
              </Link>
            }
          />
        )}
      </AuthShell>
    </PageMessages>
  );
}
