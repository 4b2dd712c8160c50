import { useTranslations } from "next-intl";
import { useState } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { useOnce } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { useRequests } from "@/lib/browser/use-read";
import { type AppVersionView, type AppView } from "@/lib/contract/apps/app";
import { appApi, appPath } from "../apps-address";

type VersionsResponse = { versions: AppVersionView[] };
const getVersions = ({ versions }: VersionsResponse) => versions;

type Removal = "removal" | AppVersionView;

/** The change history, newest first, with restore. Below it, the button that deletes the app. */
export function VersionsCard({ app }: { app: AppView }) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps.make.versions");
  const router = useRouter();
  const loadedVersions = useOnce(appApi(app.id, "versions"), getVersions);
  const [pendingRemoval, setPendingRemoval] = useState<Removal>();
  const { busyWith, failure, send } = useRequests<"act">();
  async function submitChange(removal: Removal) {
    const path = removal === "removal" ? appApi(app.id) : appApi(app.id, "versions", String(removal.number), "restore");
    const result = await send("act", callApi(path, { method: removal === "removal" ? "DELETE" : "POST" }));
    setPendingRemoval(undefined);
    if (!result.ok) return;
    showToast({ tone: "ok", text: removal === "removal" ? t("removed", { title: app.title }) : t("restored", { number: removal.number }) });
    router.push(withQuery(removal === "removal" ? "/apps" : appPath(app.id), { connection: connectionParam }));
  }
  const title =
    pendingRemoval === undefined
      ? ""
      : pendingRemoval === "removal"
        ? t("removeTitle", { title: app.title })
        : t("restoreTitle", { number: pendingRemoval.number });
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card title={t("title")} bodyClassName="p-0">
        {loadedVersions.failure ? (
          <FailureMessage failure={loadedVersions.failure} onRetry={() => void loadedVersions.refresh()} className="m-3" />
        ) : null}
        <ul>
          {loadedVersions.value?.map((version) => (
            <li
              key={version.number}
              className="flex min-h-[46px] flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3.5 py-1.5 last:border-b-0"
            >
              <span className="w-8 text-ink-3 tabular-nums">{version.number}</span>
              <span className="min-w-0 flex-1">
                <span className="block break-words">
                  {version.restoredFrom === undefined
                    ? version.changes
                        .map((change) => t(`change.${change.what}`, { label: "label" in change ? change.label : "" }))
                        .join(", ")
                    : t("restoredFrom", { number: version.restoredFrom })}
                </span>
                <span className="text-sm text-ink-3">
                  {version.by} · <RelativeTime ms={version.at} />
                </span>
              </span>
              {version.number === app.version ? (
                <span className="text-sm text-ink-3">{t("now")}</span>
              ) : (
                <Button size="small" aria-label={t("restoreOf", { number: version.number })} onClick={() => setPendingRemoval(version)}>
                  {t("restore")}
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Card>
      <Button tone="danger" className="self-start" onClick={() => setPendingRemoval("removal")}>
        {t("remove")}
      </Button>
      <ConfirmDialog
        isOpen={pendingRemoval !== undefined}
        onClose={() => setPendingRemoval(undefined)}
        title={title}
        tone={pendingRemoval === "removal" ? "danger" : "primary"}
        isBusy={busyWith !== undefined}
        onConfirm={() => pendingRemoval && void submitChange(pendingRemoval)}
      >
        <p>{t(pendingRemoval === "removal" ? "removeText" : "restoreText")}</p>
      </ConfirmDialog>
    </>
  );
}
