import { useTranslations } from "next-intl";
import { useConnection } from "@/components/frame/connection/connection-context";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { type Asked } from "./use-asset-bulk";
import { MOST_IN_ACT } from "./walk-assets";

type BulkConfirmProps = { asked: Asked | undefined; onClose: () => void; onConfirm: () => void };

/** Asks by the number; a number that one press cannot reach is said before, not after. */
export function BulkConfirm({ asked, onClose, onConfirm }: BulkConfirmProps) {
  const t = useTranslations("assets.bulk.ask");
  const isLocal = useConnection()?.isLocal === true;
  if (!asked) return null;
  const { act, selected } = asked;
  const total = selected.kind === "named" ? selected.assets.length : selected.total;
  const fixed = selected.kind === "named" ? selected.assets.filter(({ immutable }) => immutable).length : 0;
  const count = Math.min(total - fixed, MOST_IN_ACT);
  const title = t(`${act.kind}.title`, { count, tags: act.kind === "delete" ? "" : act.tags.join(", ") });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button onClick={onClose}>{t("keep")}</Button>
          <Button tone={act.kind === "delete" ? "danger" : "primary"} onClick={onConfirm}>
            {title}
          </Button>
        </>
      }
    >
      <p>{t(`${act.kind}.text`)}</p>
      {act.kind === "delete" && isLocal ? <p className="mt-2">{t("onDisk")}</p> : null}
      {fixed > 0 ? <p className="mt-2">{t("fixed", { count: fixed })}</p> : null}
      {total > MOST_IN_ACT ? <p className="mt-2">{t("bound", { most: MOST_IN_ACT, act: act.kind })}</p> : null}
    </Dialog>
  );
}
