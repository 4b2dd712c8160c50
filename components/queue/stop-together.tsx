"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";

/** For services without a way to stop one job: asks first, by number, since the others stop too. */
export function StopTogether({ count, onStop }: { count: number; onStop: () => void }) {
  const t = useTranslations("queue");
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)}>
        {t("stopTogether", { count })}
      </Button>
      <Dialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("stopTogetherTitle", { count })}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>{t("keepRunning")}</Button>
            <Button
              tone="danger"
              onClick={() => {
                setAsking(false);
                onStop();
              }}
            >
              {t("stopTogetherTitle", { count })}
            </Button>
          </>
        }
      >
        <p>{t("stopTogetherText")}</p>
      </Dialog>
    </>
  );
}
