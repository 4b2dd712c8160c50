"use client";

import { useTranslations } from "next-intl";
import { useRef } from "react";
import { Button } from "@/components/ui/button";

export function UploadButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const t = useTranslations("assets.upload");
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button tone="primary" onClick={() => input.current?.click()}>
        {t("button")}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        data-testid="asset-files"
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file chosen again must be a change again.
          target.value = "";
        }}
      />
    </>
  );
}
