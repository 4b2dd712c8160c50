import { useTranslations } from "next-intl";
import { useRef, useState } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type AppView } from "@/lib/contract/apps/app";
import { objectOf } from "@/lib/contract/json/json";
import { appPath } from "./apps-address";

/** Imports the file of an exported app. Its bytes are sent unchanged; the server reports what is wrong with them. */
export function ImportApp({ linked }: { linked?: string }) {
  const t = useTranslations("apps");
  const common = useTranslations("common");
  const router = useRouter();
  const connection = useConnection()?.id;
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ name: string; failure: ApiFailure }>();
  async function send(file: File) {
    setBusy(true);
    const done = await callApi<{ app: AppView }>(withQuery("/api/apps/import", { connection }), {
      method: "POST",
      body: file,
      headers: { "content-type": "application/json" },
    });
    setBusy(false);
    if (done.ok) router.push(withQuery(appPath(done.value.app.id), { connection: linked }));
    else setRefused({ name: file.name, failure: done.failure });
  }
  return (
    <>
      <Button tone="quiet" busy={isBusy} onClick={() => input.current?.click()}>
        {t("import")}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        hidden
        data-testid="app-file"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) void send(file);
          target.value = "";
        }}
      />
      <Dialog
        isOpen={refused !== undefined}
        onClose={() => setRefused(undefined)}
        title={t("importFailed")}
        actions={<Button onClick={() => setRefused(undefined)}>{common("close")}</Button>}
      >
        {refused ? <WhyNot {...refused} /> : null}
      </Dialog>
    </>
  );
}

/** For a wrong file: what it is, and what to choose instead. Other failures are shown as everywhere. */
function WhyNot({ name, failure }: { name: string; failure: ApiFailure }) {
  const t = useTranslations("apps");
  const given = failure.code === "INVALID_JSON" ? "other" : objectOf(failure.details)?.reason;
  const reason = reasons.find((one) => one === given);
  if (reason === undefined) return <FailureMessage failure={failure} about={t("importAbout")} />;
  return <p className="break-words">{t(`importReason.${reason}`, { name })}</p>;
}

const reasons = ["workflow", "otherVersion", "damaged", "other"] as const;
