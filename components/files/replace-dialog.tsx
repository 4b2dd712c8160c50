import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { Dialog } from "@/components/ui/dialog";
import { type Answer, type FileUpload, type FileUploads, isUnderWay } from "./file-uploads";

type ReplaceDialogProps = { all: readonly FileUpload[]; uploads: FileUploads };

/** Asks about one file after the other; one answer can be for all that came with it. Closing it asks no more until a person wants to decide. */
export function ReplaceDialog({ all, uploads }: ReplaceDialogProps) {
  const t = useTranslations("files.replace");
  const [isForAll, setForAll] = useState(false);
  // Of a whole upload: its other files go on coming back as asked about, and each of them would open it anew.
  const [later, setLater] = useState<ReadonlySet<number>>(new Set());
  const asked = all.filter(({ state }) => state === "asked");
  const open = asked.filter(({ batch }) => !later.has(batch));
  // What is being read is not swapped for another question, whichever file turns out to exist meanwhile.
  const [key, setKey] = useState<number>();
  const file = open.find((one) => one.key === key) ?? open[0];
  if (file?.key !== key) {
    setKey(file?.key);
    setForAll(false);
  }
  const others = all.filter((one) => one.batch === file?.batch && one.key !== file.key && isUnderWay(one));
  function say(answer: Answer) {
    if (file) uploads.answer(file.key, answer, isForAll);
  }
  return (
    <>
      {asked.some(({ batch }) => later.has(batch)) ? (
        <Button size="small" className="mt-1.5" onClick={() => setLater(new Set())}>
          {t("ask", { count: asked.length })}
        </Button>
      ) : null}
      <Dialog
        isOpen={file !== undefined}
        onClose={() => {
          // Without a file it closed by itself, since nothing is left to ask.
          if (file) setLater((before) => new Set([...before, ...open.map(({ batch }) => batch)]));
        }}
        title={t("title", { path: file?.path ?? "" })}
        actions={
          <>
            <Button onClick={() => say("keep")}>{t("keep")}</Button>
            <Button tone="danger" onClick={() => say("replace")}>
              {t(isForAll ? "replaceAll" : "replace")}
            </Button>
          </>
        }
      >
        <p>{t("text")}</p>
        {others.length > 0 ? (
          <label className="mt-3 flex items-center gap-2 text-ink">
            <Checkbox checked={isForAll} onChange={(event) => setForAll(event.currentTarget.checked)} />
            {t("all", { count: asked.filter(({ batch }) => batch === file?.batch).length })}
          </label>
        ) : null}
      </Dialog>
    </>
  );
}
