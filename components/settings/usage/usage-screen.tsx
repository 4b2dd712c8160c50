"use client";

import { useLocale, useTranslations } from "next-intl";
import { use } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { TimeFilter, type TimeRange } from "@/components/frame/list/time-filter";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { buttonStyle } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useRouter } from "@/components/ui/link";
import { formatDuration, useNumberFormat, useTimeFormat } from "@/components/ui/time";
import { type TimedValue, toInitialOptions, useLive } from "@/lib/browser/live/use-live";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import {
  type Amount,
  amountNames,
  sumUsage,
  type UsageConnection,
  type UsageFigures,
  usageParams,
  type UsageQuery,
  type UsageRow,
  type UsageView,
} from "@/lib/contract/members/usage";
import { toSearchValues } from "@/lib/contract/params";
import { type Result } from "@/lib/shared/result";
import { formatBytes } from "@/lib/shared/text";
import { SettingsPage } from "../settings-tabs";

type UsageScreenProps = { query: UsageQuery; usage: Promise<Result<TimedValue<UsageView>, Failure>> };

const timeSpans = ["week", "month", "quarter"] as const;

export function UsageScreen({ query, usage }: UsageScreenProps) {
  const t = useTranslations("usage");
  const router = useRouter();
  const connection = useConnectionParam();
  const { from, to } = query;
  const timeRange: TimeRange = from === undefined && to === undefined ? query : { from, to };
  const toValues = (range: UsageQuery) => toSearchValues(usageParams, range);
  const changeRange = ({ within = usageParams.within.default, ...dates }: TimeRange) =>
    router.push(withQuery("/settings/usage", { ...toValues({ within, ...dates }), connection }));
  return (
    <SettingsPage current="usage" isWide>
      <div className="flex flex-wrap items-center gap-2">
        <TimeFilter range={timeRange} spans={timeSpans} onChange={changeRange} />
        <a
          href={apiPath(withQuery("/api/console/usage/export", toValues(query)))}
          download
          className={buttonStyle({ className: "ml-auto" })}
        >
          {t("export")}
        </a>
      </div>
      <UsageReport query={query} usage={usage} />
    </SettingsPage>
  );
}

const identity = (usage: UsageView) => usage;

function UsageReport({ query, usage }: UsageScreenProps) {
  const t = useTranslations("usage");
  const formatTime = useTimeFormat();
  const path = withQuery("/api/console/usage", toSearchValues(usageParams, query));
  const live = useLive(path, { ...toInitialOptions(use(usage)), read: identity });
  const notice = live.failure ? <FailureMessage failure={live.failure} onRetry={() => void live.refresh()} /> : null;
  if (!live.value) return notice;
  const { rows, isOfAll, fromMs, toMs } = live.value;
  const formatDay = (ms: number) => formatTime(ms, "until") ?? "…";
  return (
    <>
      {notice}
      <p className="text-ink-3">{t(isOfAll ? "text" : "textOwn")}</p>
      <Card title={t("title")} note={t("period", { from: formatDay(fromMs), to: formatDay(toMs - 1) })} bodyClassName="p-0">
        {rows.length > 0 ? <UsageTable rows={rows} /> : notice ? null : <EmptyState title={t("empty.title")} text={t("empty.text")} />}
      </Card>
      {rows.some(isInexact) ? <p className="text-sm text-ink-3">{t("note")}</p> : null}
    </>
  );
}

function isInexact({ failed, seconds, outputs, bytes }: UsageView["rows"][number]): boolean {
  return [failed, seconds, outputs, bytes].some(({ value, isAtLeast }) => value === undefined || isAtLeast);
}

const cellStyle = "px-3.5 py-1.5 text-right whitespace-nowrap tabular-nums";

/** Shows each member's connections with their sum. On narrow screens, the table scrolls inside its card. */
function UsageTable({ rows }: { rows: readonly UsageRow[] }) {
  const t = useTranslations("usage");
  const rowsByMember = groupByMember(rows);
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={t("table")}>
      <table className="w-full min-w-[560px] sm:min-w-[760px] border-collapse text-left">
        <thead>
          <tr className="border-b border-line text-sm text-ink-3">
            {(["member", "connection"] as const).map((column) => (
              <th key={column} scope="col" className={cn("px-3.5 py-1.5 font-normal", column === "connection" && "max-sm:hidden")}>
                {t(column)}
              </th>
            ))}
            {(["runs", ...amountNames] as const).map((column) => (
              <th key={column} scope="col" className="px-3.5 py-1.5 text-right font-normal whitespace-nowrap">
                {t(column)}
              </th>
            ))}
          </tr>
        </thead>
        {rowsByMember.map((memberRows) => (
          <MemberRows key={`${memberRows[0]?.member.id} ${memberRows[0]?.member.token}`} rows={memberRows} />
        ))}
        {rowsByMember.length > 1 ? (
          <tfoot>
            <tr className="font-semibold">
              <th scope="row" className="px-3.5 py-1.5 font-semibold">
                {t("total")}
              </th>
              <td className="max-sm:hidden" />
              <Figures figures={sumUsage(rows)} />
            </tr>
          </tfoot>
        ) : null}
      </table>
    </div>
  );
}

function groupByMember(rows: readonly UsageRow[]): UsageRow[][] {
  const rowsByKey = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const key = `${row.member.id}\n${row.member.token ?? ""}`;
    rowsByKey.set(key, [...(rowsByKey.get(key) ?? []), row]);
  }
  return [...rowsByKey.values()];
}

function MemberRows({ rows }: { rows: readonly UsageRow[] }) {
  const t = useTranslations("usage");
  const { name: memberName = t("somebody"), token } = rows[0]?.member ?? {};
  const name = token === undefined ? memberName : t("byToken", { token, name: memberName });
  const getConnectionName = ({ kind, name: connectionName = "" }: UsageConnection) => (kind === "named" ? connectionName : t(kind));
  return (
    <tbody className="border-b border-line">
      {rows.map(({ connection, ...figures }, index) => (
        <tr key={`${connection.kind} ${connection.id}`}>
          <th scope="row" className="max-w-[200px] truncate px-3.5 py-1.5 font-medium text-ink max-sm:max-w-[140px]" title={name}>
            {index === 0 ? name : <span className="sr-only">{name}</span>}
            <span className="block truncate text-sm font-normal text-ink-3 sm:hidden">{getConnectionName(connection)}</span>
          </th>
          <td className="max-w-[240px] truncate px-3.5 py-1.5 max-sm:hidden" title={connection.name}>
            <span className={connection.kind === "named" ? undefined : "text-ink-3"}>{getConnectionName(connection)}</span>
          </td>
          <Figures figures={figures} />
        </tr>
      ))}
      {rows.length > 1 ? (
        <tr className="text-ink-2">
          <td className="px-3.5 py-1.5 max-sm:hidden" />
          <th scope="row" className="px-3.5 py-1.5 font-normal text-ink-3">
            <span className="sr-only">{t("totalOf", { name })}</span>
            <span aria-hidden="true">{t("total")}</span>
          </th>
          <Figures figures={sumUsage(rows)} />
        </tr>
      ) : null}
    </tbody>
  );
}

function Figures({ figures }: { figures: UsageFigures }) {
  const t = useTranslations("usage");
  const durations = useTranslations("common.duration");
  const formatNumber = useNumberFormat();
  const locale = useLocale();
  const formatters: Readonly<Record<(typeof amountNames)[number], (value: number) => string>> = {
    failed: formatNumber,
    seconds: (seconds) => formatDuration(durations, seconds * 1000),
    outputs: formatNumber,
    bytes: (bytes) => formatBytes(bytes, locale),
  };
  const formatAmount = ({ value, isAtLeast }: Amount, format: (value: number) => string) => {
    if (value === undefined) return t("unknown");
    return isAtLeast ? t("atLeast", { value: format(value) }) : format(value);
  };
  return (
    <>
      <td className={cellStyle}>{formatNumber(figures.runs)}</td>
      {amountNames.map((name) => (
        <td key={name} className={figures[name].value === undefined ? `${cellStyle} text-ink-3` : cellStyle}>
          {formatAmount(figures[name], formatters[name])}
        </td>
      ))}
    </>
  );
}
