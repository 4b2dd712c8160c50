import { useTranslations } from "next-intl";
import { useState } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
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
  const isLocal = useConnection()?.isLocal === true;
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
        <p className="mb-2">{t(isLocal ? "filterLocal" : "filterHint")}</p>
        {isLocal ? null : <MetadataEditor rows={rows} problems={problems} onRows={setRows} />}
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
          <Button onClick={onClose}>{common(isLocal ? "close" : "cancel")}</Button>
          {isLocal ? null : (
            <Button type="submit" tone="primary">
              {t("apply")}
            </Button>
          )}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
