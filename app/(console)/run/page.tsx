import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { type Arrival } from "@/components/run/arrivals";
import { RunScreen } from "@/components/run/run-screen";
import { hasRole } from "@/lib/contract/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("run");
  return { title: t("title") };
}

type Search = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function RunPage({ searchParams }: Search) {
  const { job, file } = await searchParams;
  const { memberId, role } = await requireViewer();
  return (
    <PageMessages messages={await pickMessages("run", "graph")}>
      <RunScreen memberId={memberId} arrival={toArrival(job, file)} canRun={hasRole(role, "operator")} />
    </PageMessages>
  );
}

/** ?job=ID or ?file=workflows/x.json; anything else opens the page as it is. */
function toArrival(job: unknown, file: unknown): Arrival | undefined {
  if (typeof job === "string" && job !== "" && job.length <= 200) return { job };
  return typeof file === "string" && file !== "" && file.length <= 2000 ? { file } : undefined;
}
