import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { RunScreen } from "@/components/run/run-screen";
import { hasRole } from "@/lib/contract/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("run");
  return { title: t("title") };
}

export default async function RunPage() {
  const { memberId, role } = await requireViewer();
  return (
    <PageMessages messages={pickMessages("run")}>
      <RunScreen memberId={memberId} canRun={hasRole(role, "operator")} />
    </PageMessages>
  );
}
