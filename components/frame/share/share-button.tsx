import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { useCanShare } from "../member-context";
import { type ShareSubject } from "./share-dialog";

const ShareDialog = dynamic(() => import("./share-dialog").then((module) => module.ShareDialog), { ssr: false });

/** Renders nothing if no share can be created. */
export function ShareButton({ subject, connectionId }: { subject: ShareSubject; connectionId: string | undefined }) {
  const t = useTranslations("sharing");
  const [isOpen, setOpen] = useState(false);
  if (!useCanShare()) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("share")}</Button>
      {isOpen ? <ShareDialog subject={subject} connectionId={connectionId} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
