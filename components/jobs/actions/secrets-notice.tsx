import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { ToneIcon } from "@/components/ui/status-badge";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";

type SecretsNoticeProps = { places: readonly SecretPlace[]; isSent?: boolean; actions?: ReactNode; className?: string };

/** Shows the job's owner which node or field contained a key or token. The key itself is never sent to the browser. */
export function SecretsNotice({ places, isSent = true, actions, className }: SecretsNoticeProps) {
  const t = useTranslations("acts.secrets");
  const title = t(isSent ? "title" : "leftOut", { count: places.length });
  return (
    <section aria-label={title} className={cn("flex gap-2.5 rounded-lg border border-wait bg-surface px-3.5 py-3", className)}>
      <span className="mt-0.5 text-wait">
        <ToneIcon tone="wait" />
      </span>
      <div className="min-w-0 flex-1">
        <p className="font-semibold">{title}</p>
        <ul className="my-1 list-inside list-disc">
          {places.map((secretPlace) => (
            <li key={[secretPlace.kind, ...Object.values(secretPlace)].join("/")} className="break-words">
              {toPlaceText(secretPlace, t)}
            </li>
          ))}
        </ul>
        <p className="text-ink-2">{t(isSent ? "advice" : "leftOutAdvice")}</p>
        {actions ? <div className="mt-2 flex flex-wrap gap-2">{actions}</div> : null}
      </div>
    </section>
  );
}

export function hasRemovableSecrets(secretPlaces: readonly SecretPlace[]): boolean {
  return secretPlaces.some(({ kind }) => kind === "input" || kind === "extra");
}

function toPlaceText(secretPlace: SecretPlace, t: ReturnType<typeof useTranslations<"acts.secrets">>): string {
  switch (secretPlace.kind) {
    case "input":
      return t("input", { node: secretPlace.node, id: secretPlace.node_id, input: secretPlace.input });
    case "extra":
      return t("extra", { path: secretPlace.path.join(".") });
    case "output":
      return t("output", { id: secretPlace.node_id });
    case "error":
      return t("error");
  }
}
