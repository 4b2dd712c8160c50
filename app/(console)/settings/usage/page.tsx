import { createConsolePage, withRequestTime } from "@/app/(console)/console-page";
import { toSearchParams } from "@/app/(console)/params";
import { UsageScreen } from "@/components/settings/usage/usage-screen";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { usageParams, type UsageView } from "@/lib/contract/members/usage";
import { parseSearch } from "@/lib/contract/params";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { readUsage } from "@/lib/server/queries/usage";
import { ok } from "@/lib/shared/result";

export const generateMetadata = createPageTitle("usage.title");

export default createConsolePage(["settings", "usage", "jobSearch"], (context, { search }) => {
  const { query } = parseSearch(usageParams, toSearchParams(search));
  return (
    <UsageScreen
      key={writeExactJson(query)}
      query={query}
      usage={withRequestTime(readUsage(context, query).then(ok), (view: UsageView) => view)}
    />
  );
});
