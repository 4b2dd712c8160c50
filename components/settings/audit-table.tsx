"use client";

import { useTranslations } from "next-intl";
import { RelativeTime } from "@/components/ui/relative-time";
import { StatusBadge } from "@/components/ui/status-badge";
import { type AuditItem } from "@/lib/contract/audit";
import { useActWords } from "./act-words";

const columns = ["when", "who", "did", "where", "outcome"] as const;

/** One line an entry; on a narrow screen the table scrolls inside its card. */
export function AuditTable({ entries }: { entries: readonly AuditItem[] }) {
  const t = useTranslations("settings.audit");
  const common = useTranslations("common");
  const wordOf = useActWords();
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
          {entries.map(({ id, at, member, action, target, connection, status, code, outcome, requestId }) => (
            <tr key={id} data-entry={id} className="border-b border-line align-top last:border-b-0">
              <td className="px-3.5 py-1.5 whitespace-nowrap text-ink-2">
                <RelativeTime ms={at} />
              </td>
              <td className="max-w-[160px] truncate px-3.5 py-1.5" title={member?.name}>
                {member?.name || t("nobody")}
              </td>
              <td className="max-w-[280px] px-3.5 py-1.5">
                <span title={action}>{wordOf(action)}</span>
                {target ? (
                  <span className="block truncate text-sm text-ink-3" title={target}>
                    {target}
                  </span>
                ) : null}
              </td>
              <td className="max-w-[150px] truncate px-3.5 py-1.5 text-ink-2" title={connection?.name ?? connection?.id}>
                {connection ? (connection.name ?? t("otherConnection")) : common("none")}
              </td>
              <td className="max-w-[260px] px-3.5 py-1.5">
                <StatusBadge
                  tone={status < 400 ? "ok" : "bad"}
                  word={t(status < 400 ? "done" : "refused")}
                  title={`${status} · ${common("requestId")} ${requestId}`}
                />
                {(code ?? outcome) ? (
                  <span className="block truncate text-sm text-ink-3" title={[code, outcome].filter(Boolean).join(" · ")}>
                    {[code, outcome].filter(Boolean).join(" · ")}
                  </span>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
