import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { tellStored } from "@/components/frame/stored-assets";
import { Button } from "@/components/ui/controls/button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { Link } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { offerHash } from "@/lib/browser/uploads/offer-hash";
import { withQuery } from "@/lib/browser/urls";
import { lacksOperation } from "@/lib/contract/failure";
import { type DraftFaults, newDraft, readDraft } from "./about";
import { AboutForm } from "./about-form";
import { uploadHabits } from "./upload-habits";
import { type StoredAsset } from "./upload-item";

/** Makes an asset of existing content, by its hash alone. */
export function HashDialog({ connection, onClose }: { connection?: string; onClose: () => void }) {
  const t = useTranslations("uploads.hash");
  const [text, setText] = useState("");
  const [draft, setDraft] = useState(() => ({ ...newDraft, tags: uploadHabits.get().tags }));
  const [faults, setFaults] = useState<DraftFaults & { hash?: true; noTags?: true }>({});
  const [failure, setFailure] = useState<ApiFailure>();
  const [made, setMade] = useState<StoredAsset>();
  const [notMade, setNotMade] = useState<"unknown" | "notMade" | "unsure">();
  const [isBusy, setBusy] = useState(false);

  async function add() {
    const hash = readHash(text);
    const about = readDraft(draft);
    const noTags = about.ok && about.value.tags.length === 0;
    setFaults({ ...(!about.ok && about.failure), ...(!hash && { hash: true }), ...(noTags && { noTags: true }) });
    if (!hash || !about.ok || noTags) return;
    setBusy(true);
    setFailure(undefined);
    setNotMade(undefined);
    setMade(undefined);
    const { name, tags, metadata, previewId } = about.value;
    const body = { hash, tags, ...(name !== "" && { name }), ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }) };
    const answer = await offerHash<StoredAsset>(body, { connection });
    const asset = answer.ok && answer.value.kind === "made" ? answer.value.asset : undefined;
    const written =
      asset && previewId !== undefined
        ? await callApi(withQuery(`/api/assets/${encodeURIComponent(asset.id)}`, { connection }), {
            method: "PUT",
            json: { preview_id: previewId },
          })
        : answer;
    setBusy(false);
    if (asset) {
      setMade(asset);
      tellStored();
    }
    if (answer.ok && answer.value.kind !== "made") {
      setNotMade(answer.value.kind);
      if ("failure" in answer.value) setFailure(answer.value.failure);
    }
    if (!written.ok) setFailure(written.failure);
  }

  const isAbsent = failure !== undefined && lacksOperation(failure);
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} className="w-[min(560px,calc(100vw-24px))]">
      <form
        className="flex flex-col gap-3 text-ink"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void add();
        }}
      >
        <FormField label={t("hash")} hint={t("hint")} error={faults.hash && t("fault")}>
          {(control) => (
            <Input
              {...control}
              value={text}
              spellCheck={false}
              autoComplete="off"
              className="font-mono"
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </FormField>
        <AboutForm connection={connection} draft={draft} faults={faults} onChange={setDraft} withName isNameless />
        {faults.noTags ? <p className="text-sm text-bad">{t("tagsNeeded")}</p> : null}
        <div aria-live="polite">
          {notMade || isAbsent ? (
            <p className="mb-2 rounded-md bg-bad-soft px-3 py-2">{t(isAbsent ? "absent" : (notMade ?? "unknown"))}</p>
          ) : null}
          {failure && !isAbsent ? <FailureMessage failure={failure} /> : null}
          {made ? (
            <p className="rounded-md bg-ok-soft px-3 py-2">
              {t(made.created_new === false ? "existing" : "made")}{" "}
              <Link
                href={withQuery(`/assets/${encodeURIComponent(made.id)}`, { connection })}
                className="underline underline-offset-2"
                onClick={onClose}
              >
                {t("open", { name: made.name || made.id })}
              </Link>
            </p>
          ) : null}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{t("close")}</Button>
          <Button type="submit" tone="primary" busy={isBusy}>
            {t("go")}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  );
}

/** A pasted hash in the interface's spelling; undefined if it is no hash. */
export function readHash(text: string): string | undefined {
  const found = /^(?:(blake3|sha256):)?([0-9a-f]{64})$/.exec(text.trim().toLowerCase());
  return found ? `${found[1] ?? "blake3"}:${found[2]}` : undefined;
}
