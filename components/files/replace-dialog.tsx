"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Dialog } from "@/components/ui/dialog";
import { type Answer, type FileUpload, type FileUploads } from "./file-uploads";

/** Asks about one file after the other; one answer can stand for all that came with it. Closing it leaves the question open in the list. */
export function ReplaceDialog({ asked, uploads }: { asked: readonly FileUpload[]; uploads: FileUploads }) {
  const t = useTranslations("files.replace");
  const [isForAll, setForAll] = useState(false);
  const [later, setLater] = useState<ReadonlySet<number>>(new Set());
  const file = asked.find(({ key }) => !later.has(key));
  function say(answer: Answer) {
    if (file) uploads.answer(file.key, answer, isForAll);
  }
  return (
    <>
      {later.size > 0 && asked.some(({ key }) => later.has(key)) ? (
        <Button size="small" className="mt-1.5" onClick={() => setLater(new Set())}>
          {t("ask", { count: asked.length })}
        </Button>
      ) : null}
      <Dialog
        isOpen={file !== undefined}
        onClose={() => setLater(new Set(asked.map(({ key }) => key)))}
        title={t("title", { path: file?.path ?? "" })}
        actions={
          <>
            <Button onClick={() => say("keep")}>{t("keep")}</Button>
            <Button tone="danger" onClick={() => say("replace")}>
              {t("replace")}
            </Button>
          </>
        }
      >
        <p>{t("text")}</p>
        {asked.length > 1 ? (
          <label className="mt-3 flex items-center gap-2 text-ink">
            <Checkbox checked={isForAll} onChange={(event) => setForAll(event.currentTarget.checked)} />
            {t("all", { count: asked.length - 1 })}
          </label>
        ) : null}
      </Dialog>
    </>
  );
}
