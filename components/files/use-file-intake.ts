import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { showToast } from "@/components/ui/toast-store";
import { type Dropped } from "@/lib/browser/files/dropped-files";
import { oneMore } from "@/lib/shared/one-more";
import { within } from "./crumbs";
import { onFileStored, tabFileUploads } from "./tab-file-uploads";

type Choices = { connection: string | undefined; refresh: () => Promise<unknown> };

/** Takes files in for the tab, says what it leaves out, and has the list read anew while they are stored. */
export function useFileIntake({ connection, refresh }: Choices) {
  const t = useTranslations("files.upload");
  const uploads = tabFileUploads();
  const onStored = useEffectEvent(() => refresh());
  // One listing for each of three hundred files would be asked for, and the last of them be waited for.
  useEffect(() => {
    const again = oneMore(() => onStored());
    return onFileStored(() => void again());
  }, []);
  function addTo(dir: string, { files, unreadable, leftOut, isCut }: Dropped) {
    uploads.add(
      files.map(({ path, file }) => ({ path: within(dir, path), file })),
      connection,
    );
    if (files.length + unreadable + leftOut === 0) showToast({ tone: "wait", text: t("nothing") });
    if (leftOut > 0) showToast({ tone: "wait", text: t("leftOut", { count: leftOut }) });
    if (unreadable > 0) showToast({ tone: "bad", text: t("unreadable", { count: unreadable }) });
    if (isCut) showToast({ tone: "bad", text: t("cut", { count: files.length }) });
  }
  return { uploads, addTo };
}
