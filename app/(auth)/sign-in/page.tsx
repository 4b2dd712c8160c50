import { type Metadata } from "next";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { AuthShell } from "@/components/auth/auth-shell";
import { safeReturn } from "@/lib/shared/safe-return";
import { SignInForm } from "@/components/auth/sign-in-form";
import { FailureNotice } from "@/components/ui/failure-notice";
import { PageMessages } from "@/components/frame/page-messages";
import { VOUCHED_HEADER } from "@/lib/server/auth/page-header";
import { readViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("auth.signIn"))("title") };
}

export default async function SignInPage({ searchParams }: PageProps<"/sign-in">) {
  const { callbackUrl } = await searchParams;
  const returnTo = typeof callbackUrl === "string" ? callbackUrl : undefined;
  if (await readViewer(await headers())) redirect(safeReturn(returnTo));
  const t = await getTranslations("auth.signIn");
  const frame = await getTranslations("frame");
  const vouched = (await headers()).get(VOUCHED_HEADER);
  if (vouched !== null)
    return (
      <AuthShell product={frame("product")} title={t("title")}>
        <FailureNotice title={t("stranger.title", { email: vouched.slice(0, 254) })} next={t("stranger.next")} />
      </AuthShell>
    );
  return (
    <PageMessages messages={await pickMessages("auth")}>
      <AuthShell product={frame("product")} title={t("title")}>
        <SignInForm returnTo={returnTo} />
      </AuthShell>
    </PageMessages>
  );
}
