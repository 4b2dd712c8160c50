import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { AuthShell } from "@/components/auth/auth-shell";
import { OrPassword, ProviderButtons, SignInForm } from "@/components/auth/sign-in-form";
import { ProviderRefusal } from "@/components/frame/account/sign-in-fields";
import { PageMessages } from "@/components/frame/page-header";
import { FailureNotice } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { oidcRefusals } from "@/lib/contract/people/sign-in";
import { readViewer } from "@/lib/server/auth/viewer";
import { openVisitorPage } from "@/lib/server/bff/open-page";
import { PROXY_EMAIL_HEADER } from "@/lib/server/cookies";
import { pageTitle, pickMessages } from "@/lib/server/i18n/messages";
import { getSignInChoices, getProxyRefusal } from "@/lib/server/queries/sign-in";
import { toSafeReturn } from "@/lib/shared/console-paths";

export const generateMetadata = pageTitle("auth.signIn.title");

export default async function SignInPage({ searchParams }: PageProps<"/sign-in">) {
  const { callbackUrl, refused, provider: at } = await searchParams;
  const returnTo = toSafeReturn(typeof callbackUrl === "string" ? callbackUrl : undefined);
  const composition = await openVisitorPage();
  const { password, providers } = getSignInChoices(composition);
  const reason = oidcRefusals.find((oidcRefusal) => oidcRefusal === refused);
  const provider = providers.find(({ id }) => id === at);
  // A member who was refused while signed in, when confirming or connecting, reads the reason before going back.
  const isBack = (await readViewer(composition, await headers())) !== undefined;
  if (isBack && !(reason && provider)) redirect(returnTo);
  const t = await getTranslations("auth.signIn");
  const back = await getTranslations("auth.provider");
  const frame = await getTranslations("frame");
  const vouched = (await headers()).get(PROXY_EMAIL_HEADER);
  const why = vouched === null ? undefined : await getProxyRefusal(composition, vouched);
  if (vouched !== null && why)
    return (
      <AuthShell product={frame("product")} title={t("title")}>
        <FailureNotice title={t(`${why}.title`, { email: vouched.slice(0, 254) })} next={t(`${why}.next`)} />
      </AuthShell>
    );
  // Nothing was confirmed, so the success page must not follow.
  const goBack = isBack && returnTo !== "/confirmed" ? <ButtonLink href={`/${returnTo.slice(1)}`}>{back("back")}</ButtonLink> : undefined;
  return (
    <PageMessages messages={await pickMessages("auth")}>
      <AuthShell product={frame("product")} title={t("title")}>
        {reason && provider ? <ProviderRefusal reason={reason} provider={provider.label} actions={goBack} /> : null}
        {providers.length > 0 && !isBack ? <ProviderButtons providers={providers} /> : null}
        {providers.length > 0 && password && !isBack ? <OrPassword /> : null}
        {password && !isBack ? <SignInForm /> : null}
      </AuthShell>
    </PageMessages>
  );
}
