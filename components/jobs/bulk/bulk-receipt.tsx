"use client";

import { useTranslations } from "next-intl";
import { failureText } from "@/components/frame/failure-text";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type ReceiptEntry, toneOf } from "./receipt-entry";

type BulkReceiptProps = { isOpen: boolean; entries: readonly ReceiptEntry[]; onClose: () => void };

/** More lines than anybody reads, and than a page draws at once; the copy holds them all. */
const SHOWN = 500;

/** Job by job what happened, to read and to keep. */
export function BulkReceipt({ isOpen, entries, onClose }: BulkReceiptProps) {
  const t = useTranslations("jobs.bulk.receipt");
  const outcomes = useTranslations("jobs.bulk.outcome");
  const errors = useTranslations("errors");
  const words = ({ outcome, newId, failure }: ReceiptEntry) =>
    [outcomes(outcome), newId && outcomes("as", { id: newId }), failure && failureText(errors, failure)].filter(Boolean).join(" ");
  const asText = () => entries.map((entry) => `${entry.id}\t${words(entry)}`).join("\n");
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      className="w-[min(680px,calc(100vw-32px))]"
      title={t("title", { count: entries.length })}
      actions={
        <>
          {isOpen ? <CopyButton text={asText()} label={t("copy")} className="mr-auto size-[30px]" /> : null}
          <Button onClick={onClose}>{t("close")}</Button>
        </>
      }
    >
      <div role="group" tabIndex={0} aria-label={t("table")} className="max-h-[50vh] overflow-y-auto">
        <table className="w-full text-left">
          <thead>
            <tr className="border-b border-line text-ink-3">
              <th scope="col" className="py-1 pr-3 font-normal">
                {t("job")}
              </th>
              <th scope="col" className="py-1 font-normal">
                {t("happened")}
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, SHOWN).map((entry) => (
              <tr key={entry.id} className="border-b border-line align-top last:border-0">
                <td className="py-1.5 pr-3 font-mono text-sm break-all">{entry.id}</td>
                <td className="py-1.5 text-ink">
                  <span className="flex items-start gap-1.5 break-words">
                    <ToneIcon tone={toneOf(entry.outcome)} />
                    <span className="min-w-0">{words(entry)}</span>
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {entries.length > SHOWN ? <p className="mt-2">{t("more", { count: entries.length - SHOWN })}</p> : null}
    </Dialog>
  );
}
