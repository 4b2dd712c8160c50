import { useTranslations } from "next-intl";
import { connectionTone, keyWord } from "@/components/frame/connection/connection-status";
import { useConnectionStatus } from "@/components/frame/counts-context";
import { Button } from "@/components/ui/controls/button";
import { StatusBadge } from "@/components/ui/status-badge";
import { type ConnectionCheck, type ConnectionView } from "@/lib/contract/console";
import { Outcome } from "./outcome";

type Act = "use" | "check" | "change" | "remove";
type ConnectionItemProps = {
  connection: ConnectionView;
  check?: ConnectionCheck;
  /** The act that is under way on this connection. */
  busyWith?: Act;
  canChange: boolean;
  /** Its form was just closed: the focus comes back to what opened it. */
  isReturned?: boolean;
  onAct: (act: Act) => void;
};

export function ConnectionItem({ connection, check, busyWith, canChange, isReturned = false, onAct }: ConnectionItemProps) {
  const t = useTranslations("settings");
  const words = useTranslations("frame.connection");
  const { name, baseUrl, accountUrl, embedded, shared, fingerprint, current } = connection;
  const status = useConnectionStatus()(connection);
  const act = (kind: Act, label: string) => (
    <Button
      key={kind}
      size="small"
      tone={kind === "remove" ? "danger" : "plain"}
      busy={busyWith === kind}
      autoFocus={isReturned && kind === "change"}
      aria-label={t("actOn", { act: label, name })}
      onClick={() => onAct(kind)}
    >
      {label}
    </Button>
  );
  return (
    <li data-connection={connection.id} className="flex flex-col gap-2 border-b border-line px-3.5 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 className="font-semibold">{name}</h3>
        <StatusBadge tone={connectionTone[status]} word={words(status)} />
        {current ? <span className="text-sm text-ink-3">{words("current")}</span> : null}
        <span className="ml-auto flex flex-wrap gap-1.5">
          {current ? null : act("use", t("use"))}
          {act("check", busyWith === "check" ? t("checking") : t("check"))}
          {canChange ? act("change", t("change")) : null}
          {canChange && !embedded ? act("remove", t("remove")) : null}
        </span>
      </div>
      <dl className="grid grid-cols-[92px_minmax(0,1fr)] gap-y-1 text-ink-2">
        <dt className="text-ink-3">{t("address")}</dt>
        <dd className="truncate" title={embedded ? undefined : baseUrl}>
          {embedded ? t("embedded") : baseUrl}
        </dd>
        {accountUrl ? (
          <>
            <dt className="text-ink-3">{t("account")}</dt>
            <dd className="truncate" title={accountUrl}>
              {accountUrl}
            </dd>
          </>
        ) : null}
        <dt className="text-ink-3">{t("usedBy")}</dt>
        <dd>{t(shared ? "usedByTeam" : "usedByYou")}</dd>
        <dt className="text-ink-3">{t("key")}</dt>
        <dd>
          {words(keyWord(connection))}
          {fingerprint ? (
            <>
              {" · "}
              <span className="font-mono text-sm" title={t("fingerprint")}>
                {fingerprint}
              </span>
            </>
          ) : null}
        </dd>
      </dl>
      {check ? <Outcome check={check} /> : null}
    </li>
  );
}
