import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { TokensScreen } from "@/components/settings/tokens/tokens-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getTokenChoices } from "@/lib/server/queries/members";
import { listTokens } from "@/lib/server/tokens/personal-tokens";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("tokens"))("title") };
}

export default async function TokensPage() {
  const context = await openPage({ isOwn: true });
  return (
    <PageMessages messages={await pickMessages("settings", "tokens")}>
      <TokensScreen
        role={context.viewer.role}
        choices={getTokenChoices(context)}
        own={listTokens(context, "own")}
        others={hasRole(context.viewer.role, "admin") ? listTokens(context, "others") : undefined}
      />
    </PageMessages>
  );
}
