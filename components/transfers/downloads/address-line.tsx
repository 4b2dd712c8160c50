import { useTranslations } from "next-intl";
import { failureText } from "@/components/frame/failure/failure-text";
import { FileName } from "@/components/ui/cut";
import { Picture } from "@/components/ui/pictures/picture";
import { formatBytes } from "@/lib/shared/format";
import { type Address } from "./address";
import { type SourceCheck } from "./source-facts";

type AddressLineProps = {
  address: Address;
  check?: SourceCheck;
  refused?: string;
  locale: string;
  onAgain: (url: string) => void;
};

/** One address: the file found there, or why it is not fetched. The query is never shown. */
export function AddressLine({ address, check, refused, locale, onAgain }: AddressLineProps) {
  const facts = check?.kind === "known" ? check.facts : undefined;
  return (
    <div className="flex gap-3">
      {facts?.picture ? <Remote picture={facts.picture} name={facts.name ?? address.shown} /> : null}
      <div className="min-w-0 flex-1">
        <p className="truncate" title={address.shown}>
          <FileName name={facts?.name ?? address.shown} />
        </p>
        {facts?.name ? <p className="truncate text-sm text-ink-3">{address.shown}</p> : null}
        {refused ? (
          <p className="text-sm text-bad">{refused}</p>
        ) : (
          <Verdict address={address} check={check} locale={locale} onAgain={onAgain} />
        )}
      </div>
    </div>
  );
}

function Remote({ picture, name }: { picture: string; name: string }) {
  const t = useTranslations("uploads.url");
  return <Picture src={picture} alt={t("picture", { name })} width={56} height={56} eager fit="cover" className="size-14 shrink-0" />;
}

function Verdict({ address, check, locale, onAgain }: AddressLineProps) {
  const t = useTranslations("uploads.url");
  const errors = useTranslations("errors");
  if (address.fault) return <p className="text-sm text-bad">{t(`fault.${address.fault}`)}</p>;
  if (!check || check.kind === "asking") return <p className="text-sm text-ink-3">{t("asking")}</p>;
  if (check.kind === "unsupported") return <p className="text-sm text-ink-3">{t("notAsked")}</p>;
  if (check.kind === "refused") {
    return (
      <p className="text-sm text-bad">
        {t("refused", { reason: failureText(errors, check.failure) })}{" "}
        {/* A forbidden host stays forbidden, so only other failures can be tried again. */}
        {check.failure.code === "UNSUPPORTED_SOURCE" ? null : (
          <button
            type="button"
            aria-label={`${t("again")}: ${address.shown}`}
            className="text-ink underline underline-offset-2"
            onClick={() => onAgain(address.url)}
          >
            {t("again")}
          </button>
        )}
      </p>
    );
  }
  const { sizeBytes, errors: faults, warnings } = check.facts;
  return (
    <>
      <p className="text-sm text-ink-2">{sizeBytes === undefined ? t("unknownSize") : formatBytes(sizeBytes, locale)}</p>
      {faults.map((message) => (
        <p key={message} className="text-sm text-bad">
          {t("refused", { reason: message })}
        </p>
      ))}
      {warnings.map((message) => (
        <p key={message} className="text-sm text-wait">
          {t("warning", { message })}
        </p>
      ))}
    </>
  );
}
