import { useTranslations } from "next-intl";
import { useState } from "react";
import { cn } from "@/components/ui/cn";
import { Dialog } from "@/components/ui/dialog";
import { ButtonLink, usePathname, useRouter } from "@/components/ui/link";
import { toneDot } from "@/components/ui/status-badge";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { type ConnectionView } from "@/lib/contract/console";
import { connectionTones, useConnectionStatus, useKeyLabel } from "../counts-context";
import { FailureMessage } from "../failure/failure-message";
import { useRunsAppsOnly } from "../member-context";
import { useConnectionParam } from "./connection-context";

type ConnectionSwitchProps = { connections: readonly ConnectionView[]; currentId: string; onClose: () => void };
type SwitchError = { code: string; message: string };

export function ConnectionSwitch({ connections, currentId, onClose }: ConnectionSwitchProps) {
  const t = useTranslations("frame.connection");
  const switchTo = useSwitchConnection();
  const connectionParam = useConnectionParam();
  const getStatus = useConnectionStatus();
  const getKeyLabel = useKeyLabel();
  const runsAppsOnly = useRunsAppsOnly();
  const [switchError, setSwitchError] = useState<SwitchError>();
  const [busyId, setBusyId] = useState<string>();

  async function selectConnection(connection: ConnectionView) {
    setBusyId(connection.id);
    const failure = await switchTo(connection);
    setBusyId(undefined);
    if (failure) return setSwitchError(failure);
    onClose();
  }

  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title")}
      actions={
        runsAppsOnly ? undefined : (
          <ButtonLink href={withQuery("/settings", { connection: connectionParam })} onClick={onClose}>
            {t("manage")}
          </ButtonLink>
        )
      }
    >
      <ul className="flex flex-col gap-1">
        {connections.map((connection) => {
          const status = getStatus(connection);
          const isCurrent = connection.id === currentId;
          return (
            <li key={connection.id}>
              <button
                type="button"
                aria-current={isCurrent || undefined}
                aria-busy={busyId === connection.id || undefined}
                onClick={() => (isCurrent ? onClose() : void selectConnection(connection))}
                className="flex w-full items-center gap-2 rounded-md px-2.5 py-1.5 text-left text-ink hover:bg-off-soft"
              >
                <span aria-hidden="true" className={cn("size-[9px] shrink-0 rounded-full", toneDot[connectionTones[status]])} />
                <span className="min-w-0 flex-1">
                  <span className="block truncate font-medium">{connection.name}</span>
                  <span className="block truncate text-xs text-ink-3">
                    {getKeyLabel(connection)} · {t(status)}
                  </span>
                </span>
                {isCurrent ? <span className="text-sm text-ink-3">{t("current")}</span> : null}
              </button>
            </li>
          );
        })}
      </ul>
      {switchError ? <FailureMessage failure={switchError} className="mt-2" /> : null}
    </Dialog>
  );
}

/** Switches the member to another connection; returns the failure, if any. */
export function useSwitchConnection() {
  const t = useTranslations("frame.connection");
  const router = useRouter();
  const pathname = usePathname();
  return async ({ id, name }: { id: string; name: string }): Promise<ApiFailure | undefined> => {
    const result = await callApi(`/api/console/connections/${encodeURIComponent(id)}/use`, { method: "POST" });
    if (!result.ok) return result.failure;
    showToast({ tone: "ok", text: t("switched", { name }) });
    // The current job, asset or app doesn't exist on the new connection, so its list is opened.
    const [, section = ""] = pathname.split("/");
    router.push(["jobs", "assets", "apps"].includes(section) ? `/${section}` : pathname);
    router.refresh();
    return undefined;
  };
}
