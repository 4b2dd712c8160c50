import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { type ColumnChoice } from "../columns/column-choice";
import { listHref, viewHref } from "./list-address";
import { type ListState } from "./list-state";

const ColumnsDialog = dynamic(() => import("../columns/columns-dialog").then((module) => module.ColumnsDialog), { ssr: false });

const ViewsDialog = dynamic(() => import("@/components/frame/list/views-dialog").then((module) => module.ViewsDialog), { ssr: false });

type JobsToolsProps = {
  choice: ColumnChoice;
  /** What the columns are reset to. */
  usual: ColumnChoice;
  onChoose: (choice: ColumnChoice) => void;
  state: ListState;
  linked: string | undefined;
  canShare: boolean;
};

/** What is about the view, on the right of the tool bar; each opens what its press loads. */
export function JobsTools({ choice, usual, onChoose, state, linked, canShare }: JobsToolsProps) {
  const t = useTranslations("jobs");
  const [open, setOpen] = useState<"columns" | "views">();
  const close = () => setOpen(undefined);
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setOpen("views")}>
        {t("views.open")} <span aria-hidden="true">▾</span>
      </Button>
      <Button aria-haspopup="dialog" onClick={() => setOpen("columns")}>
        {t("columns.open")} <span aria-hidden="true">▾</span>
      </Button>
      {open === "views" ? (
        <ViewsDialog
          screen="jobs"
          query={listHref("jobs", { ...state.query(), offset: 0 }).split("?")[1] ?? ""}
          hrefOf={(query) => viewHref(query, linked)}
          canShare={canShare}
          onClose={close}
        />
      ) : null}
      {open === "columns" ? <ColumnsDialog choice={choice} usual={usual} onChoose={onChoose} onClose={close} /> : null}
    </>
  );
}
