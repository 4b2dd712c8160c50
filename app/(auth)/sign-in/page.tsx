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
import { getProxyRefusal, getSignInChoices } from "@/lib/server/queries/members";
import { toSafeReturn } from "@/lib/shared/console-paths";

export const generateMetadata = pageTitle("auth.signIn.title");

export default async function SignInPage({ searchParams }: PageProps<"/sign-in">) {
  const { callbackUrl, refused, provider: providerId } = await searchParams;
  const returnTo = toSafeReturn(typeof callbackUrl === "string" ? callbackUrl : undefined);
  const composition = await openVisitorPage();
  const { password, providers } = getSignInChoices(composition);
  const reason = oidcRefusals.find((oidcRefusal) => oidcRefusal === refused);
  const provider = providers.find(({ id }) => id === providerId);
  // Members who are signed in were rejected while confirming or connecting, and read the reason before going back.
  const isSignedIn = (await readViewer(composition, await headers())) !== undefined;
  if (isSignedIn && !(reason && provider)) redirect(returnTo);
  const t = await getTranslations("auth.signIn");
  const back = await getTranslations("auth.provider");
  const frame = await getTranslations("frame");
  const proxyEmail = (await headers()).get(PROXY_EMAIL_HEADER);
  const refusalReason = proxyEmail === null ? undefined : await getProxyRefusal(composition, proxyEmail);
  if (proxyEmail !== null && refusalReason)
    return (
      <AuthShell product={frame("product")} title={t("title")}>
        <FailureNotice title={t(`${refusalReason}.title`, { email: proxyEmail.slice(0, 254) })} next={t(`${refusalReason}.next`)} />
      </AuthShell>
    );
  // Nothing was confirmed, so the success page must not follow.
  const goBack =
    isSignedIn && returnTo !== "/confirmed" ? <ButtonLink href={`/${returnTo.slice(1)}`}>{back("back")}</ButtonLink> : undefined;
  return (
    <PageMessages messages={await pickMessages("auth")}>
      <AuthShell product={frame("product")} title={t("title")}>
        {reason && provider ? <ProviderRefusal reason={reason} provider={provider.label} actions={goBack} /> : null}
        {providers.length > 0 && !isSignedIn ? <ProviderButtons providers={providers} /> : null}
        {providers.length > 0 && password && !isSignedIn ? <OrPassword /> : null}
        {password && !isSignedIn ? <SignInForm /> : null}
      </AuthShell>
    </PageMessages>
  );
}
