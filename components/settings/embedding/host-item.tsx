import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { CopyableId } from "@/components/ui/controls/copyable-id";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { useClock } from "@/components/ui/time/use-clock";
import { embedRefusals } from "@/lib/contract/embed/embed-pages";
import { type EmbedHostView } from "@/lib/contract/embed/embedding";

type HostItemProps = { host: EmbedHostView; connection?: string; onCode: () => void; onChange: () => void; onRemove: () => void };

export function HostItem({ host, connection, onCode, onChange, onRemove }: HostItemProps) {
  const t = useTranslations("embedding");
  const roleName = useTranslations("frame.member.role");
  const clock = useClock();
  const { id, name, origins, role, pages, guests, jwksUrl, refused, keptBy, oldSecretUntil } = host;
  const why = embedRefusals.find((one) => one === refused?.why);
  const facts = [
    [t("origins"), origins.join(", ")],
    [t("connection"), host.connection === null ? t("allConnections") : (connection ?? host.connection)],
    [t("role"), roleName(role)],
    [t("pages"), pages.map((page) => t(`page.${page}`)).join(", ")],
    [t("guests"), guests ? t("guestsYes") : t("guestsNo")],
    [t("key"), jwksUrl === null ? t("keySecret") : t("keyJwks", { url: jwksUrl })],
    ...(keptBy ? [[t("keptBy"), keptBy.name] as const] : []),
  ] as const;
  return (
    <li className="flex flex-col gap-2 border-b border-line px-3.5 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-2">
        <b className="min-w-0 truncate font-semibold">{name}</b>
        <CopyableId id={id} />
        <span className="ml-auto flex gap-2">
          <Button size="small" aria-label={t("actOn", { act: t("code"), name })} onClick={onCode}>
            {t("code")}
          </Button>
          <Button size="small" aria-label={t("actOn", { act: t("change"), name })} onClick={onChange}>
            {t("change")}
          </Button>
          <Button size="small" aria-label={t("actOn", { act: t("remove"), name })} onClick={onRemove}>
            {t("remove")}
          </Button>
        </span>
      </div>
      <dl className="grid grid-cols-[minmax(0,9rem)_minmax(0,1fr)] gap-x-3 gap-y-0.5">
        {facts.map(([label, text]) => (
          <div key={label} className="contents">
            <dt className="text-ink-3">{label}</dt>
            <dd className="min-w-0 break-words">{text}</dd>
          </div>
        ))}
      </dl>
      {oldSecretUntil === undefined ? null : <p className="text-ink-2">{t("oldSecret", { time: clock(oldSecretUntil, "until") ?? "" })}</p>}
      {keptBy?.lost ? <p className="text-wait">{t(`keeperLost.${keptBy.lost}`, { name: keptBy.name })}</p> : null}
      {refused && why ? (
        <p className="text-bad">{t.rich("refusedAt", { why: t(`refusal.${why}`), time: () => <RelativeTime ms={refused.at} /> })}</p>
      ) : null}
    </li>
  );
}
