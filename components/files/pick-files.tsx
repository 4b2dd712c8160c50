import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { type Dropped } from "@/lib/browser/files/dropped-files";
import { useFilePick } from "./use-file-pick";

/** Files, or a whole folder with what is in it. */
export function PickFiles({ onFiles }: { onFiles: (picked: Dropped) => void }) {
  const t = useTranslations("files.upload");
  const files = useFilePick({ onFiles, testId: "user-files" });
  const folder = useFilePick({ onFiles, isFolder: true, testId: "user-folder" });
  return (
    <>
      <Button className="max-sm:hidden" onClick={folder.open}>
        {t("folder")}
      </Button>
      <Button tone="primary" onClick={files.open}>
        {t("files")}
      </Button>
      {files.input}
      {folder.input}
    </>
  );
}
