import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { TokensScreen } from "@/components/settings/tokens/tokens-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getTokenChoices } from "@/lib/server/queries/members";
import { listTokens } from "@/lib/server/tokens/personal-tokens";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("tokens"))("title") };
}

export default async function TokensPage() {
  const viewer = await requireViewer({ isOwn: true });
  return (
    <PageMessages messages={await pickMessages("settings", "tokens")}>
      <TokensScreen
        role={viewer.role}
        choices={getTokenChoices(viewer)}
        own={listTokens(viewer, "own")}
        others={hasRole(viewer.role, "admin") ? listTokens(viewer, "others") : undefined}
      />
    </PageMessages>
  );
}
