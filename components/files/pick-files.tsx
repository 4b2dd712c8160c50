import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { useFilePick } from "@/components/ui/hooks/use-file-pick";
import { type Dropped, filesOfInput } from "@/lib/browser/files/dropped-files";

/** Picks files, or a whole folder with its content. */
export function PickFiles({ onFiles }: { onFiles: (picked: Dropped) => void }) {
  const t = useTranslations("files.upload");
  const take = (picked: File[]) => onFiles(filesOfInput(picked));
  const files = useFilePick({ isMany: true, testId: "user-files", onFiles: take });
  const folder = useFilePick({ isFolder: true, testId: "user-folder", onFiles: take });
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
