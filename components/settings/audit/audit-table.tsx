import { useTranslations } from "next-intl";
import { useActWords } from "@/components/frame/act-words";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { type AuditItem, type AuditPart } from "@/lib/contract/audit/audit";
import { factsOf, partWords, targetHref } from "./audit-facts";
import { AuditOutcome, TargetLink } from "./audit-outcome";

/** Labels what acted for the member: a token, an embedding page, or a sign-in provider. */
const ways = [
  ["token ", "byToken"],
  ["embed ", "byEmbed"],
  ["provider ", "byProvider"],
] as const;

const columns = ["when", "who", "did", "where", "outcome"] as const;

/** One line per entry; on a narrow screen the table scrolls inside its card. */
export function AuditTable({ entries }: { entries: readonly AuditItem[] }) {
  const t = useTranslations("settings.audit");
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={t("table")}>
      <table className="w-full min-w-[760px] border-collapse text-left">
        <thead>
          <tr className="border-b border-line text-sm text-ink-3">
            {columns.map((column) => (
              <th key={column} scope="col" className="px-3.5 py-1.5 font-normal">
                {t(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <AuditEntry key={entry.id} entry={entry} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AuditEntry({ entry }: { entry: AuditItem }) {
  const t = useTranslations("settings.audit");
  const common = useTranslations("common");
  const { wordOf, triedOf } = useActWords();
  const { id, at, member, via, action, connection, status, parts = [], moreParts = 0 } = entry;
  const way = ways.find(([start]) => via?.startsWith(start));
  const wayName = way && via?.slice(way[0].length);
  const isMany = parts.length + moreParts > 1 || entry.isAtLeast === true;
  const one = parts[0] ?? (entry.target === undefined ? undefined : { id: entry.target });
  const facts = factsOf(entry);
  const isRepeated = facts?.some(({ value }) => value === one?.id) ?? false;
  return (
    <tr data-entry={id} className="border-b border-line align-top last:border-b-0">
      <td className="px-3.5 py-1.5 whitespace-nowrap text-ink-2">
        <RelativeTime ms={at} />
      </td>
      <td className="max-w-[160px] truncate px-3.5 py-1.5" title={member && [member.name, member.email].filter(Boolean).join(", ")}>
        {member?.name || t("nobody")}
        {way && wayName !== undefined ? (
          <span className="block truncate text-sm text-ink-3" title={wayName}>
            {t(way[1], { name: wayName })}
          </span>
        ) : null}
      </td>
      <td className="max-w-[280px] px-3.5 py-1.5">
        <span title={action}>{status < 400 ? wordOf(action) : triedOf(action)}</span>
        {isMany ? <Parts entry={entry} parts={parts} /> : null}
        {!isMany && one && !isRepeated ? (
          <span className="block truncate text-sm text-ink-3" title={one.id}>
            <PartName entry={entry} part={one} />
          </span>
        ) : null}
      </td>
      <td className="max-w-[150px] truncate px-3.5 py-1.5 text-ink-2" title={connection?.name ?? connection?.id}>
        {connection ? (connection.name ?? t("otherConnection")) : common("none")}
      </td>
      <td className="max-w-[260px] px-3.5 py-1.5">
        <AuditOutcome entry={entry} facts={facts} />
      </td>
    </tr>
  );
}

/** Every object that one act changed, by the name it had then and its id. */
function Parts({ entry, parts }: { entry: AuditItem; parts: readonly AuditPart[] }) {
  const t = useTranslations("settings.audit");
  const { moreParts = 0, isAtLeast } = entry;
  return (
    <details className="text-sm text-ink-3">
      <summary className="cursor-pointer rounded-sm">
        {t(isAtLeast ? "partsAtLeast" : "parts", { count: parts.length + moreParts })}
      </summary>
      <ul className="max-h-60 overflow-y-auto py-1">
        {parts.map((part, at) => {
          const { short } = partWords(entry, part);
          return (
            <li key={at} title={part.id} className="truncate">
              <PartName entry={entry} part={part} />
              {short === undefined ? null : <span className="ml-1.5 font-mono text-xs">{short}</span>}
              {part.isRefused && entry.refused ? <span className="ml-1.5 text-bad">{t("refused")}</span> : null}
            </li>
          );
        })}
      </ul>
      {moreParts > 0 ? <p>{t("moreParts", { count: moreParts })}</p> : null}
    </details>
  );
}

function PartName({ entry, part }: { entry: AuditItem; part: Pick<AuditPart, "id" | "name"> }) {
  const { text } = partWords(entry, part);
  const href = targetHref({ ...entry, target: part.id });
  return href ? <TargetLink href={href} text={text} /> : text;
}
