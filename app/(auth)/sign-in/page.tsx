import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { AuthShell } from "@/components/auth/auth-shell";
import { PasswordDivider, ProviderButtons, SignInForm } from "@/components/auth/sign-in-form";
import { ProviderRefusal } from "@/components/frame/account/sign-in-fields";
import { PageMessages } from "@/components/frame/page-header";
import { FailureNotice } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { oidcRefusals } from "@/lib/contract/members/sign-in";
import { readViewer } from "@/lib/server/auth/viewer";
import { openPublicPage } from "@/lib/server/bff/open-page";
import { PROXY_EMAIL_HEADER } from "@/lib/server/cookies";
import { createPageTitle, pickMessages } from "@/lib/server/i18n/messages";
import { getProxyRefusal, getSignInChoices } from "@/lib/server/queries/members";
import { toSafeReturnPath } from "@/lib/shared/console-paths";

export const generateMetadata = createPageTitle("auth.signIn.title");

export default async function SignInPage({ searchParams }: PageProps<"/sign-in">) {
  const { callbackUrl, refused, provider: providerId } = await searchParams;
  const returnTo = toSafeReturnPath(typeof callbackUrl === "string" ? callbackUrl : undefined);
  const composition = await openPublicPage();
  const { password, providers } = getSignInChoices(composition);
  const reason = oidcRefusals.find((oidcRefusal) => oidcRefusal === refused);
  const provider = providers.find(({ id }) => id === providerId);
  // A signed-in member with a sign-in error was confirming a session or connecting a provider. Shows the error and doesn't redirect.
  const isSignedIn = (await readViewer(composition, await headers())) !== undefined;
  if (isSignedIn && !(reason && provider)) redirect(returnTo);
  const t = await getTranslations("auth.signIn");
  const providerText = await getTranslations("auth.provider");
  const frame = await getTranslations("frame");
  const proxyEmail = (await headers()).get(PROXY_EMAIL_HEADER);
  const proxyRefusal = proxyEmail === null ? undefined : await getProxyRefusal(composition, proxyEmail);
  if (proxyEmail !== null && proxyRefusal)
    return (
      <AuthShell product={frame("product")} title={t("title")}>
        <FailureNotice title={t(`${proxyRefusal}.title`, { email: proxyEmail.slice(0, 254) })} remedy={t(`${proxyRefusal}.next`)} />
      </AuthShell>
    );
  // The confirmation failed, so there is no link to the success page.
  const backLink =
    isSignedIn && returnTo !== "/confirmed" ? <ButtonLink href={`/${returnTo.slice(1)}`}>{providerText("back")}</ButtonLink> : undefined;
  return (
    <PageMessages messages={await pickMessages("auth")}>
      <AuthShell product={frame("product")} title={t("title")}>
        {reason && provider ? <ProviderRefusal reason={reason} provider={provider.label} actions={backLink} /> : null}
        {providers.length > 0 && !isSignedIn ? <ProviderButtons providers={providers} /> : null}
        {providers.length > 0 && password && !isSignedIn ? <PasswordDivider /> : null}
        {password && !isSignedIn ? <SignInForm /> : null}
      </AuthShell>
    </PageMessages>
  );
}
