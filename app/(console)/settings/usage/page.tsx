import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { toSearchParams } from "@/app/(console)/params";
import { stamp } from "@/app/(console)/stamp";
import { PageMessages } from "@/components/frame/page-header";
import { UsageScreen } from "@/components/settings/usage/usage-screen";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { readAddress } from "@/lib/contract/params";
import { usageParams, type UsageView } from "@/lib/contract/people/usage";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { readUsage } from "@/lib/server/queries/usage";
import { ok } from "@/lib/shared/result";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("usage"))("title") };
}

export default async function UsagePage({ searchParams }: PageProps<"/settings/usage">) {
  const context = await openPage();
  const { query } = readAddress(usageParams, toSearchParams(await searchParams));
  return (
    <PageMessages messages={await pickMessages("settings", "usage", "jobSearch")}>
      <UsageScreen key={writeExactJson(query)} query={query} usage={stamp(readUsage(context, query).then(ok), (view: UsageView) => view)} />
    </PageMessages>
  );
}
