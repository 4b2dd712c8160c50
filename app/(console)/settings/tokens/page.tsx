import { createConsolePage } from "@/app/(console)/console-page";
import { TokensScreen } from "@/components/settings/tokens/tokens-screen";
import { hasRole } from "@/lib/contract/members/roles";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { getTokenChoices } from "@/lib/server/queries/members";
import { listTokens } from "@/lib/server/tokens/personal-tokens";

export const generateMetadata = createPageTitle("tokens.title");

export default createConsolePage(
  ["settings", "tokens"],
  (context) => (
    <TokensScreen
      role={context.viewer.role}
      choices={getTokenChoices(context)}
      ownTokens={listTokens(context, "own")}
      otherTokens={hasRole(context.viewer.role, "admin") ? listTokens(context, "others") : undefined}
    />
  ),
  { refuseEmbedded: true },
);
