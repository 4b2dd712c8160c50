import { useTranslations } from "next-intl";
import { connectionTone, keyWord } from "@/components/frame/connection/connection-status";
import { useConnectionStatus } from "@/components/frame/counts-context";
import { Button } from "@/components/ui/controls/button";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { type ConnectionCheck, type ConnectionView, type JobViewerView } from "@/lib/contract/console";
import { Outcome } from "../outcome";

export type ConnectionAct = "use" | "check" | "change" | "remove" | "viewers";
type ConnectionItemProps = {
  connection: ConnectionView;
  check?: ConnectionCheck;
  /** The act in progress on this connection. */
  busyWith?: ConnectionAct;
  canChange: boolean;
  /** Its form was just closed: the focus returns to the button that opened it. */
  isReturned?: boolean;
  /** For admins, on their own connection: they choose who sees its jobs. */
  canShow?: boolean;
  onAct: (act: ConnectionAct) => void;
  /** Withdraws the view of its jobs from a member. */
  onTake: (memberId: string) => void;
};

export function ConnectionItem({
  connection,
  check,
  busyWith,
  canChange,
  isReturned = false,
  canShow = false,
  onAct,
  onTake,
}: ConnectionItemProps) {
  const t = useTranslations("settings");
  const words = useTranslations("frame.connection");
  const { name, baseUrl, accountUrl, embedded, shared, fingerprint, current, seenOf, seenBy } = connection;
  const status = useConnectionStatus()(connection);
  const act = (kind: ConnectionAct, label: string) => (
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
          {seenOf === undefined ? act("check", busyWith === "check" ? t("checking") : t("check")) : null}
          {canShow && seenBy ? act("viewers", t("jobViewers.open")) : null}
          {canChange ? act("change", t("change")) : null}
          {canChange && !embedded ? act("remove", t("remove")) : null}
        </span>
      </div>
      <dl className="grid grid-cols-[92px_minmax(0,1fr)] gap-y-1 text-ink-2">
        {seenOf === undefined ? (
          <>
            <dt className="text-ink-3">{t("address")}</dt>
            <dd className="truncate" title={embedded ? undefined : baseUrl}>
              {embedded ? t("embedded") : baseUrl}
            </dd>
          </>
        ) : null}
        {accountUrl ? (
          <>
            <dt className="text-ink-3">{t("account")}</dt>
            <dd className="truncate" title={accountUrl}>
              {accountUrl}
            </dd>
          </>
        ) : null}
        <dt className="text-ink-3">{t("usedBy")}</dt>
        <dd>{seenOf === undefined ? t(shared ? "usedByTeam" : "usedByYou") : t("jobViewers.readOnly", { owner: seenOf })}</dd>
        {seenBy && seenBy.length > 0 ? <SeenBy viewers={seenBy} onTake={onTake} /> : null}
        <dt className="text-ink-3">{t("key")}</dt>
        <dd>
          {seenOf === undefined ? words(keyWord(connection)) : t("jobViewers.keyOf", { owner: seenOf })}
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

type SeenByProps = { viewers: readonly JobViewerView[]; onTake: (memberId: string) => void };

/** Tells the owner who else sees their jobs, and lets them end it. */
function SeenBy({ viewers, onTake }: SeenByProps) {
  const t = useTranslations("settings.jobViewers");
  return (
    <>
      <dt className="text-ink-3">{t("seen")}</dt>
      <dd>
        <ul className="flex flex-col gap-1">
          {viewers.map(({ memberId, name, givenBy, givenAt }) => (
            <li key={memberId} className="flex flex-wrap items-center gap-x-2">
              <span className="font-medium text-ink">{name}</span>
              <span className="text-sm text-ink-3">
                {t.rich(givenBy ? "givenBy" : "given", { giver: givenBy ?? "", time: () => <RelativeTime ms={givenAt} /> })}
              </span>
              <Button size="small" tone="quiet" aria-label={t("takeFrom", { name })} onClick={() => onTake(memberId)}>
                {t("take")}
              </Button>
            </li>
          ))}
        </ul>
      </dd>
    </>
  );
}
