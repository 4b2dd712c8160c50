import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { AuthShell } from "@/components/auth/auth-shell";
import { SetUpForm } from "@/components/auth/sign-up-forms";
import { PageMessages } from "@/components/frame/page-header";
import { FailureNotice } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { openPublicPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getSetUpState } from "@/lib/server/queries/members";

// The URL contains the token, so it must not reach other sites as a referrer.
export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("auth.setUp"))("tab"), referrer: "no-referrer" };
}

/** Message keys of the notice that replaces the form. `open` without a token cannot occur. */
const noticeKeys = { over: "over", unknown: "unknown", noToken: "noToken", open: "noToken" } as const;

export default async function SetUpPage({ searchParams }: PageProps<"/set-up">) {
  const { token } = await searchParams;
  const tokenParam = typeof token === "string" && token !== "" ? token : undefined;
  const state = await getSetUpState(await openPublicPage(), tokenParam);
  const t = await getTranslations("auth.setUp");
  const frame = await getTranslations("frame");
  return (
    <PageMessages messages={await pickMessages("auth")}>
      <AuthShell product={frame("product")} title={t("title")} text={state === "open" ? t("text") : undefined}>
        {tokenParam !== undefined && state === "open" ? (
          <SetUpForm token={tokenParam} />
        ) : (
          <FailureNotice
            title={t(`${noticeKeys[state]}.title`)}
            remedy={t(`${noticeKeys[state]}.text`)}
            actions={
              // In the other states there is no account to sign in to yet.
              state === "over" ? <ButtonLink href="/sign-in">{t("toSignIn")}</ButtonLink> : null
            }
          />
        )}
      </AuthShell>
    </PageMessages>
  );
}
