import { type Metadata } from "next";
import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { AuthShell } from "@/components/auth/auth-shell";
import { PasswordDivider, ProviderButtons } from "@/components/auth/sign-in-form";
import { InvitationForm, InvitationRefusal } from "@/components/auth/sign-up-forms";
import { PageMessages } from "@/components/frame/page-header";
import { readInvitation } from "@/lib/server/auth/members";
import { readViewer } from "@/lib/server/auth/viewer";
import { openPublicPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getSignInChoices } from "@/lib/server/queries/members";

// The URL contains the token, so it must not reach other sites as a referrer.
export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("auth.invitation"))("tab"), referrer: "no-referrer" };
}

export default async function InvitationPage({ searchParams }: PageProps<"/invitation">) {
  const { token } = await searchParams;
  const tokenParam = typeof token === "string" && token !== "" ? token : undefined;
  const composition = await openPublicPage();
  const invitation = tokenParam === undefined ? undefined : await readInvitation(composition, tokenParam);
  const viewer = await readViewer(composition, await headers());
  const { password, providers } = getSignInChoices(composition);
  const t = await getTranslations("auth.invitation");
  const frame = await getTranslations("frame");
  const role = invitation?.state === "open" ? frame(`member.role.${invitation.role}`) : "";
  return (
    <PageMessages messages={await pickMessages("auth")}>
      {tokenParam !== undefined && invitation?.state === "open" ? (
        <AuthShell
          product={frame("product")}
          title={invitation.resets ? t("reset.title") : t("title")}
          text={
            <>
              <p>{invitation.resets ? t("reset.text") : t(password ? "text" : "textProvider", { role, email: invitation.email })}</p>
              {viewer ? <p>{t("signedIn", { name: viewer.name })}</p> : null}
            </>
          }
        >
          {invitation.resets || providers.length === 0 ? null : <ProviderButtons providers={providers} token={tokenParam} />}
          {!invitation.resets && providers.length > 0 && password ? <PasswordDivider /> : null}
          {invitation.resets || password ? (
            <InvitationForm token={tokenParam} email={invitation.email} isPasswordReset={invitation.resets} />
          ) : null}
        </AuthShell>
      ) : (
        <AuthShell product={frame("product")} title={t("title")}>
          <InvitationRefusal reason={invitation === undefined || invitation.state === "open" ? "noToken" : invitation.state} />
        </AuthShell>
      )}
    </PageMessages>
  );
}
