import { useTranslations } from "next-intl";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { lacksOperation } from "@/lib/contract/failure";
import { type Refusal, type RefusalReason } from "./refusal";

type RefusalNoteProps = { refusal: Refusal; keepsOpen: boolean; onRead: () => void };

/** Why a file was not opened: what is wrong, where, and what to do. */
export function RefusalNote({ refusal, keepsOpen, onRead }: RefusalNoteProps) {
  const t = useTranslations("run.refusal");
  const common = useTranslations("common");
  const sentence = useReason(refusal.reason);
  const { fileName, reason } = refusal;
  if (reason.code === "unread")
    return <FailureMessage failure={reason.failure} actions={<Button onClick={onRead}>{common("dismiss")}</Button>} />;
  if (reason.code === "no_pictures") {
    return (
      <FailureNotice
        title={t("noPictures")}
        cause={t("assetsCause")}
        next={sentence}
        actions={<Button onClick={onRead}>{common("dismiss")}</Button>}
      />
    );
  }
  const isSeveral = reason.code === "several_files";
  return (
    <FailureNotice
      title={isSeveral ? t("several", { count: reason.count }) : fileName === undefined ? t("pasted") : t("named", { name: fileName })}
      cause={t(isSeveral ? "severalCause" : reason.code.startsWith("job_") ? "jobCause" : "fileCause")}
      next={keepsOpen ? `${sentence} ${t("kept")}` : sentence}
      actions={<Button onClick={onRead}>{common("dismiss")}</Button>}
    />
  );
}

export function useReason(reason: RefusalReason): string {
  const t = useTranslations("run.refusal");
  switch (reason.code) {
    case "not_json":
      return t("not_json", { line: reason.line, column: reason.column });
    case "no_graph":
      return t("no_graph", { found: reason.found });
    case "no_catalogue":
      return t(lacksOperation(reason.failure) ? "noCatalogue" : "catalogueUnread");
    case "too_large":
      return t("too_large", { found: reason.found, limit: reason.limit, most: reason.most });
    case "too_many_numbers":
      return t("too_many_numbers", { most: reason.most });
    case "node_without_class":
      return t("node_without_class", { nodeId: reason.nodeId });
    case "node_with_bad_inputs":
      return t("node_with_bad_inputs", { nodeId: reason.nodeId });
    case "no_pictures":
      return t(reason.gone ? "assetsGone" : "assetsNoPictures");
    case "unread":
      return "";
    case "ui_format":
    case "empty":
    case "no_nodes":
    case "nothing_runs":
    case "several_files":
    case "job_gone":
    case "job_without_workflow":
    case "file_gone":
    case "picture":
    case "media":
    case "damaged":
    case "too_much":
    case "unreadable_file":
    case "sample_missing":
      return t(reason.code);
  }
}
