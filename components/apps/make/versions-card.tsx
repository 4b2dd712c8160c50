import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type AppVersionView, type AppView } from "@/lib/contract/apps/app";
import { appApi, appPath } from "../apps-address";

type VersionsAnswer = { versions: AppVersionView[] };
const versionsIn = ({ versions }: VersionsAnswer) => versions;
const never = () => "final" as const;

type Leaving = "removal" | AppVersionView;

/** Who changed what and when, newest first; older versions can be restored. Below, the button that deletes the app. */
export function VersionsCard({ app, linked }: { app: AppView; linked?: string }) {
  const t = useTranslations("apps.make.versions");
  const common = useTranslations("common");
  const router = useRouter();
  const poll = usePoll(appApi(app.id, "versions"), { read: versionsIn, motion: never });
  const [asked, setAsked] = useState<Leaving>();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  async function act(what: Leaving) {
    setBusy(true);
    setFailure(undefined);
    const done =
      what === "removal"
        ? await callApi(appApi(app.id), { method: "DELETE" })
        : await callApi(appApi(app.id, "versions", String(what.number), "restore"), { method: "POST" });
    setBusy(false);
    setAsked(undefined);
    if (!done.ok) return setFailure(done.failure);
    showToast({ tone: "ok", text: what === "removal" ? t("removed", { title: app.title }) : t("restored", { number: what.number }) });
    router.push(withQuery(what === "removal" ? "/apps" : appPath(app.id), { connection: linked }));
  }
  const title =
    asked === undefined ? "" : asked === "removal" ? t("removeTitle", { title: app.title }) : t("restoreTitle", { number: asked.number });
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card title={t("title")} bodyClassName="p-0">
        {poll.failure ? <FailureMessage failure={poll.failure} onRetry={() => void poll.refresh()} className="m-3" /> : null}
        <ul>
          {poll.value?.map((version) => (
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
                <Button size="small" aria-label={t("restoreOf", { number: version.number })} onClick={() => setAsked(version)}>
                  {t("restore")}
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Card>
      <Button tone="danger" className="self-start" onClick={() => setAsked("removal")}>
        {t("remove")}
      </Button>
      <Dialog
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={title}
        actions={
          <>
            <Button onClick={() => setAsked(undefined)}>{common("cancel")}</Button>
            <Button tone={asked === "removal" ? "danger" : "primary"} busy={isBusy} onClick={() => asked && void act(asked)}>
              {title}
            </Button>
          </>
        }
      >
        <p>{t(asked === "removal" ? "removeText" : "restoreText")}</p>
      </Dialog>
    </>
  );
}
