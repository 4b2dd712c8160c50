"use client";

import { useTranslations } from "next-intl";
import { useRef } from "react";
import { Button } from "@/components/ui/button";
import { type Dropped, filesOfInput } from "@/lib/browser/dropped-files";

/** Files, or a whole folder with what is in it. */
export function PickFiles({ onFiles }: { onFiles: (picked: Dropped) => void }) {
  const t = useTranslations("files.upload");
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const picked = (target: HTMLInputElement) => {
    onFiles(filesOfInput(target.files));
    // The same file chosen again must be a change again.
    target.value = "";
  };
  return (
    <>
      <Button className="max-sm:hidden" onClick={() => folder.current?.click()}>
        {t("folder")}
      </Button>
      <Button tone="primary" onClick={() => files.current?.click()}>
        {t("files")}
      </Button>
      <input ref={files} type="file" multiple hidden data-testid="user-files" onChange={({ target }) => picked(target)} />
      <input
        ref={(element) => {
          folder.current = element;
          // Not among the attributes that the types know, yet every browser has it.
          element?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        multiple
        hidden
        onChange={({ target }) => picked(target)}
      />
    </>
  );
}
