import { useTranslations } from "next-intl";
import { useState } from "react";
import { useFeature } from "@/components/frame/connection/connection-context";
import { Button } from "@/components/ui/controls/button";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { MetadataEditor } from "./metadata-editor";
import { fromRows, type MetadataRow, readFilter, type ReadRows, toFilter } from "./metadata-rows";

type MetadataDialogProps = { filter: string | undefined; onFilter: (filter: string | undefined) => void; onClose: () => void };

const blank: MetadataRow = { path: "", type: "guess", value: "" };
const noProblems: ReadRows["problems"] = new Map();

/** Keeps only assets whose metadata holds all of these values. */
export function MetadataDialog({ filter, onFilter, onClose }: MetadataDialogProps) {
  const t = useTranslations("assets.metadata");
  const common = useTranslations("common");
  const canFilter = useFeature("metadataFilter");
  const [rows, setRows] = useState(() => {
    const read = readFilter(filter);
    return read.length > 0 ? read : [blank];
  });
  const [problems, setProblems] = useState(noProblems);
  function apply() {
    const read = fromRows(rows);
    setProblems(read.problems);
    if (read.problems.size > 0) return;
    onFilter(toFilter(read.metadata));
    onClose();
  }
  return (
    <Dialog isOpen onClose={onClose} title={t("filterTitle")} className="w-[min(620px,calc(100vw-32px))]">
      <form action={apply}>
        <p className="mb-2">{t(canFilter ? "filterHint" : "filterLocal")}</p>
        {canFilter ? <MetadataEditor rows={rows} problems={problems} onRows={setRows} /> : null}
        <DialogFoot>
          {filter === undefined ? null : (
            <Button
              className="mr-auto"
              onClick={() => {
                onFilter(undefined);
                onClose();
              }}
            >
              {t("clear")}
            </Button>
          )}
          <Button onClick={onClose}>{common(canFilter ? "cancel" : "close")}</Button>
          {canFilter ? (
            <Button type="submit" tone="primary">
              {t("apply")}
            </Button>
          ) : null}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
