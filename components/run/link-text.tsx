import { useTranslations } from "next-intl";
import { type Control } from "./form-model";
import { nodeDomId } from "./field-ids";

type Link = Extract<Control, { kind: "link" }>;

/** "from #2 Fit": which node feeds this input; leads there. */
export function LinkText({ link }: { link: Link }) {
  const t = useTranslations("run.field");
  const output = link.output > 0 ? (link.outputName ?? t("output", { number: link.output + 1 })) : undefined;
  return (
    <span className="block py-1 text-ink-2">
      {t("from")}{" "}
      <a
        href={`#${encodeURIComponent(nodeDomId(link.fromId))}`}
        className="text-ink underline decoration-line-strong underline-offset-2 hover:decoration-ink"
      >
        <span className="text-ink-3">#{link.fromId}</span> {link.fromTitle}
      </a>
      {output ? <span className="text-ink-3"> · {output}</span> : null}
    </span>
  );
}
