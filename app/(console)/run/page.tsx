import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { isSample } from "@/components/frame/samples/samples";
import { RunScreen } from "@/components/run/run-screen";
import { type Arrival } from "@/components/run/workflow/arrivals";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("run");
  return { title: t("title") };
}

type Search = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function RunPage({ searchParams }: Search) {
  const search = await searchParams;
  const {
    viewer: { memberId, can },
  } = await openPage();
  return (
    <PageMessages messages={await pickMessages("run", "acts", "samples", "graph", "masks", "viewer")}>
      <RunScreen memberId={memberId} arrival={toArrival(search)} canRun={can("operator")} />
    </PageMessages>
  );
}

const MAX_ID = 200;
/** As many as a person would look through; each one costs a request. */
const MAX_ASSETS = 100;

/**
 * ?job=ID (&without=secrets), ?file=workflows/x.json, ?carrier=ID, ?sample=NAME, ?app=ID, ?asset=ID or ?assets=ID,ID; anything else opens
 * the page without one.
 */
function toArrival({ job, without, file, carrier, sample, app, asset, assets }: Record<string, unknown>): Arrival | undefined {
  if (isId(job)) return { job, ...(without === "secrets" && { without }) };
  if (typeof file === "string" && file !== "" && file.length <= 2000) return { file };
  if (isId(carrier)) return { carrier };
  if (isSample(sample)) return { sample };
  if (isId(app)) return { app };
  const ids = [asset, ...(typeof assets === "string" ? assets.split(",") : [])].filter(isId);
  return ids.length > 0 ? { assets: [...new Set(ids)].slice(0, MAX_ASSETS) } : undefined;
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID;
}
