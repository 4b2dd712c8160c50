import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { type Tone } from "@/components/ui/tone";
import { ToneIcon } from "@/components/ui/tone-icon";

/** How an entry is displayed. */
export type EntryLook<Entry> = {
  toneOf: (entry: Entry) => Tone;
  textOf: (entry: Entry) => string;
  /** The name that people use, if more than its id is known. */
  nameOf: (entry: Entry) => string | undefined;
};
type ReceiptDialogProps<Entry extends { id: string }> = EntryLook<Entry> & {
  /** The namespace of its sentences. */
  words: "acts" | "assets.bulk";
  isOpen: boolean;
  entries: readonly Entry[];
  onClose: () => void;
};

/** At most this many lines are shown; the copied text has them all. */
const SHOWN = 500;

/** The outcome of every single thing, to read and to copy. */
export function ReceiptDialog<Entry extends { id: string }>({
  isOpen,
  entries,
  words,
  toneOf,
  textOf,
  nameOf,
  onClose,
}: ReceiptDialogProps<Entry>) {
  const t = useTranslations(`${words}.receipt`);
  const asText = () => entries.map((entry) => [entry.id, nameOf(entry) ?? "", textOf(entry)].join("\t")).join("\n");
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
                {t("thing")}
              </th>
              <th scope="col" className="py-1 font-normal">
                {t("happened")}
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, SHOWN).map((entry) => (
              <tr key={entry.id} className="border-b border-line align-top last:border-0">
                <td className="py-1.5 pr-3">
                  {nameOf(entry) ? <span className="block break-words text-ink">{nameOf(entry)}</span> : null}
                  <span className="font-mono text-sm break-all">{entry.id}</span>
                </td>
                <td className="py-1.5 text-ink">
                  <span className="flex items-start gap-1.5 break-words">
                    <ToneIcon tone={toneOf(entry)} />
                    <span className="min-w-0">{textOf(entry)}</span>
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
