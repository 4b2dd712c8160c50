import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { type MemberView, type PersonalConnectionView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { JobViewersDialog, type SeenConnection } from "./job-viewers-dialog";

type PersonalConnectionsProps = {
  connections: Promise<Result<PersonalConnectionView[], Failure>>;
  onChoose: (connection: SeenConnection) => void;
};

/** Other members' own connections, for admins: the owners and who sees their jobs, never the names and addresses. */
export function PersonalConnections({ connections, onChoose }: PersonalConnectionsProps) {
  const t = useTranslations("settings.jobViewers");
  const settings = useTranslations("settings");
  const router = useRouter();
  const result = use(connections);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  const list = result.value;
  if (list.length === 0) return null;
  return (
    <Card title={t("personal")} note={list.length} bodyClassName="p-0">
      <ul>
        {list.map((connection) => (
          <li
            key={connection.id}
            data-personal={connection.id}
            className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line px-3.5 py-2.5 last:border-b-0"
          >
            <div className="min-w-0 flex-1">
              <p className="truncate font-semibold">{t("of", { owner: connection.ownerName })}</p>
              <p className="text-sm text-ink-3">
                {t.rich("added", { time: () => <RelativeTime ms={connection.createdAt} /> })}
                {" · "}
                {connection.seenBy.length === 0 ? t("seenByNobody") : t("seenBy", { names: namesOf(connection.seenBy) })}
              </p>
            </div>
            <Button
              size="small"
              aria-haspopup="dialog"
              aria-label={settings("actOn", { act: t("open"), name: connection.ownerName })}
              onClick={() => onChoose(connection)}
            >
              {t("open")}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function namesOf(viewers: SeenConnection["seenBy"]): string {
  return viewers.map(({ name }) => name).join(", ");
}

/** The chosen connection is taken from the newest answer. */
export function useJobViewersDialog(members: Promise<Result<MemberView[], Failure>> | undefined) {
  const router = useRouter();
  const [chosen, choose] = useState<SeenConnection>();
  const dialog =
    chosen && members ? (
      <JobViewersDialog
        key={chosen.id}
        connection={chosen}
        members={members}
        onChanged={() => router.refresh()}
        onClose={() => choose(undefined)}
      />
    ) : null;
  return { choose: members ? choose : undefined, dialog };
}
