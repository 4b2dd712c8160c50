import { useLocale, useTranslations } from "next-intl";
import { type Runner, type RunnerCheck } from "@/lib/contract/runners/runners";
import { formatBytes } from "@/lib/shared/format";
import { OutcomeNote } from "../outcome";

/** What kind of server is at an address, or what is wrong and what to do about it. */
export function CheckNote({ check }: { check: RunnerCheck }) {
  const t = useTranslations("runners");
  const locale = useLocale();
  if (!check.ok) return <ProblemNote {...check} />;
  const { version, classes, devices } = check.facts;
  const named = devices.map(({ name, vramTotal }) => (vramTotal === null ? name : `${name}, ${formatBytes(vramTotal, locale)}`));
  return (
    <OutcomeNote
      outcome="fine"
      tone="ok"
      title={t("form.fine.title")}
      next={t("form.fine.text", { version: version ?? "none", classes, devices: named.join("; ") })}
    />
  );
}

/** Also for a runner that is set aside or does not answer. */
export function ProblemNote({ code, message }: NonNullable<Runner["reason"]>) {
  const t = useTranslations("runners.problem");
  return <OutcomeNote outcome={code} tone="bad" title={t(`${code}.title`)} next={t(`${code}.next`)} detail={message} />;
}
