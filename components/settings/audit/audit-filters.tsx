import { useTranslations } from "next-intl";
import { use } from "react";
import { useActWords } from "@/components/frame/act-words";
import { buttonStyle } from "@/components/ui/controls/button";
import { Select } from "@/components/ui/controls/select";
import { Link, useRouter } from "@/components/ui/link";
import { apiPath } from "@/lib/browser/urls";
import { type AuditChoices } from "@/lib/contract/audit/audit";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { auditAddress, auditFile, type AuditView } from "./audit-address";

const spans = [
  [24, "hours"],
  [24 * 7, "week"],
  [24 * 30, "month"],
] as const;

type AuditFiltersProps = { view: AuditView; choices: Promise<Result<AuditChoices, Failure>> };

export function AuditFilters({ view, choices }: AuditFiltersProps) {
  const t = useTranslations("settings.audit");
  const { wordOf } = useActWords();
  const router = useRouter();
  const known = use(choices);
  const { members, actions } = known.ok ? known.value : { members: [], actions: [] };
  // A change of filters starts again at the newest entry.
  const narrow = (change: Partial<AuditView>) => router.push(auditAddress({ ...view, before: undefined, upTo: undefined, ...change }));
  const isNarrowed = [view.member, view.action, view.on, view.within].some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select aria-label={t("person")} value={view.member ?? ""} onChange={({ target }) => narrow({ member: target.value || undefined })}>
        <option value="">{t("anybody")}</option>
        {members.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      <Select aria-label={t("act")} value={view.action ?? ""} onChange={({ target }) => narrow({ action: target.value || undefined })}>
        <option value="">{t("anything")}</option>
        {actions.map((action) => (
          <option key={action} value={action}>
            {wordOf(action)}
          </option>
        ))}
      </Select>
      <Select
        aria-label={t("time")}
        value={view.within ?? ""}
        onChange={({ target }) => narrow({ within: target.value ? Number(target.value) : undefined })}
      >
        <option value="">{t("anyTime")}</option>
        {spans.map(([hours, word]) => (
          <option key={hours} value={hours}>
            {t(word)}
          </option>
        ))}
      </Select>
      {isNarrowed ? (
        <Link href="/settings/audit" className={buttonStyle({ tone: "quiet" })}>
          {t("reset")}
        </Link>
      ) : null}
      <a href={apiPath(auditFile(view))} download className={buttonStyle({ className: "ml-auto" })}>
        {t("export")}
      </a>
    </div>
  );
}
