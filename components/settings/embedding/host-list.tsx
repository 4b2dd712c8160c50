import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type EmbedHostView } from "@/lib/contract/embed/embedding";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { RemovalDialog } from "../removal-dialog";
import { type TeamConnection } from "./host-form";
import { HostItem } from "./host-item";
import { SnippetDialog } from "./snippet-dialog";

type HostListProps = {
  hosts: Promise<Result<EmbedHostView[], Failure>>;
  connections: readonly TeamConnection[];
  onChange: (host: EmbedHostView) => void;
};

export function HostList({ hosts, connections, onChange }: HostListProps) {
  const t = useTranslations("embedding");
  const router = useRouter();
  const [leaving, setLeaving] = useState<EmbedHostView>();
  const [shown, setShown] = useState<EmbedHostView>();
  const [failure, setFailure] = useState<ApiFailure>();
  const result = use(hosts);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;

  async function remove({ id, name }: EmbedHostView) {
    setLeaving(undefined);
    const done = await callApi(`/api/console/embedding/${encodeURIComponent(id)}`, { method: "DELETE" });
    setFailure(done.ok ? undefined : done.failure);
    if (done.ok) showToast({ tone: "off", text: t("removed", { name }) });
    router.refresh();
  }
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card title={t("hosts")} note={result.value.length} bodyClassName="p-0">
        {result.value.length === 0 ? <p className="px-3.5 py-3 text-ink-3">{t("none")}</p> : null}
        <ul>
          {result.value.map((host) => (
            <HostItem
              key={host.id}
              host={host}
              connection={connections.find(({ id }) => id === host.connection)?.name}
              onCode={() => setShown(host)}
              onChange={() => onChange(host)}
              onRemove={() => setLeaving(host)}
            />
          ))}
        </ul>
      </Card>
      {shown ? <SnippetDialog host={shown} onClose={() => setShown(undefined)} /> : null}
      <RemovalDialog
        leaving={leaving}
        title={t("removeTitle", { name: leaving?.name ?? "" })}
        onRemove={(gone) => void remove(gone)}
        onClose={() => setLeaving(undefined)}
      >
        {t("removeText")}
      </RemovalDialog>
    </>
  );
}
