import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { AuthShell } from "@/components/auth/auth-shell";
import { SetUpForm } from "@/components/auth/sign-up-forms";
import { PageMessages } from "@/components/frame/page-header";
import { buttonStyle } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { openVisitorPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getSetUp } from "@/lib/server/queries/sign-in";

// The token is in the address, so no other site may learn it from a referrer.
export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("auth.setUp"))("tab"), referrer: "no-referrer" };
}

/** The text shown instead of the form. `open` without a token cannot occur. */
const reasons = { over: "over", unknown: "unknown", noToken: "noToken", open: "noToken" } as const;

export default async function SetUpPage({ searchParams }: PageProps<"/set-up">) {
  const { token } = await searchParams;
  const given = typeof token === "string" && token !== "" ? token : undefined;
  const state = await getSetUp(await openVisitorPage(), given);
  const t = await getTranslations("auth.setUp");
  const frame = await getTranslations("frame");
  return (
    <PageMessages messages={await pickMessages("auth")}>
      <AuthShell product={frame("product")} title={t("title")} text={state === "open" ? t("text") : undefined}>
        {given !== undefined && state === "open" ? (
          <SetUpForm token={given} />
        ) : (
          <FailureNotice
            title={t(`${reasons[state]}.title`)}
            next={t(`${reasons[state]}.text`)}
            actions={
              // Signing in is of use only to people who have an account.
              state === "over" ? (
                <Link href="/sign-in" className={buttonStyle()}>
                  {t("toSignIn")}
                </Link>
              ) : null
            }
          />
        )}
      </AuthShell>
    </PageMessages>
  );
}
