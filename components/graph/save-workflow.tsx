import { Save } from "lucide-react";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button, type ButtonProps } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { Dialog, FormFooter } from "@/components/ui/dialog";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { unwrapWorkflow } from "@/lib/contract/workflow/read-workflow";

type SaveWorkflowProps = {
  title: string;
  /** The stored file's path, suggested as the new path. */
  currentPath?: string;
  onSaved?: (path: string) => void;
  /** Called on save, since the text may be large. */
  getText: () => string | undefined;
  /** The same workflow in the editor's format, if it can be written. */
  editor?: EditorFormat;
  connection?: string;
  /** Shows only an icon. */
  isSmall?: boolean;
  tone?: ButtonProps["tone"];
  size?: ButtonProps["size"];
};

/** `isDefault`: opened in this format. `isOriginalFile`: saved to its own file. `unplaced`: nodes and inputs missing there. */
type EditorFormat = { isDefault: boolean; isOriginalFile: boolean; write: () => Promise<{ text: string; unplaced: readonly string[] }> };

/** Saves to the service's workflows folder. An existing file is replaced only after a second click. */
export function SaveWorkflow({ isSmall = false, tone, size, ...formProps }: SaveWorkflowProps) {
  const t = useTranslations("graph.save");
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        tone={tone}
        size={isSmall ? "icon" : size}
        aria-label={isSmall ? t("act") : undefined}
        title={isSmall ? t("act") : undefined}
        onClick={() => setOpen(true)}
      >
        {isSmall ? <Save aria-hidden="true" className="size-4" /> : t("act")}
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={t("title")}>
        <SaveForm {...formProps} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

const formats = ["editor", "graph"] as const;
const MAX_LISTED_NAMES = 8;

type SaveFormProps = Pick<SaveWorkflowProps, "title" | "currentPath" | "onSaved" | "getText" | "editor" | "connection"> & {
  onClose: () => void;
};
type SaveState = { path?: string; isBusy?: boolean; isTaken?: boolean; isEmpty?: boolean; failure?: ApiFailure };

function SaveForm({ title, currentPath, onSaved, getText, editor, connection, onClose }: SaveFormProps) {
  const t = useTranslations("graph.save");
  const [name, setName] = useState(() => toName(currentPath) ?? toFileName(title));
  const [saveState, setSaveState] = useState<SaveState>({});
  // Computed once, since it searches the full text.
  const [isMasked] = useState(() => getText()?.includes(MASK) ?? false);
  const [isEditorFormat, setEditorFormat] = useState(editor?.isDefault ?? false);
  const [unplaced, setUnplaced] = useState<readonly string[]>([]);
  const checkUnplaced = useEffectEvent(
    () =>
      void editor?.write().then(
        (writeResult) => setUnplaced(writeResult.unplaced),
        () => undefined,
      ),
  );
  useEffect(() => {
    if (isEditorFormat) checkUnplaced();
  }, [isEditorFormat]);
  const id = useId();
  const path = toStoredPath(name);
  const isPathTaken = saveState.isTaken === true && saveState.path === path;

  async function save() {
    if (path === undefined || saveState.isBusy) return;
    setSaveState({ path, isBusy: true });
    // The code that writes the editor format is loaded on demand.
    const writeResult = isEditorFormat ? await editor?.write().catch(() => "unreachable" as const) : { text: getText() };
    if (writeResult === "unreachable") return setSaveState({ path, failure: { code: "CONSOLE_UNREACHABLE", message: "", status: 0 } });
    const text = writeResult?.text;
    if (text === undefined) return setSaveState({ path, isEmpty: true });
    const requestPath = withQuery(`/api/userdata/${encodeURIComponent(path)}`, { overwrite: isPathTaken, full_info: true, connection });
    const result = await callApi<unknown>(requestPath, {
      method: "POST",
      body: text,
      headers: { "content-type": "application/octet-stream" },
    });
    if (result.ok) {
      showToast({ tone: "ok", text: t(isEditorFormat ? "savedForEditor" : "saved", { path }) });
      onSaved?.(path);
      return onClose();
    }
    setSaveState(result.failure.status === 409 ? { path, isTaken: true } : { path, failure: result.failure });
  }

  return (
    <form
      className="flex flex-col gap-3 text-ink"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div>
        <label htmlFor={id} className="text-ink-2">
          {t("name")}
        </label>
        <span className="mt-1 flex items-center gap-1">
          <span className="shrink-0 font-mono text-sm text-ink-3">{WORKFLOWS_FOLDER}</span>
          <Input
            id={id}
            autoFocus
            autoComplete="off"
            spellCheck={false}
            value={name}
            onChange={({ target }) => setName(target.value)}
            aria-invalid={path === undefined || undefined}
            aria-describedby={`${id}-note`}
          />
          <span className="shrink-0 font-mono text-sm text-ink-3">.json</span>
        </span>
        <p id={`${id}-note`} className="mt-1 text-sm text-ink-2">
          {t(path === undefined ? "odd" : "note")}
          {isMasked ? ` ${t("masked")}` : null}
        </p>
      </div>
      {editor ? (
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-ink-2">{t("format.label")}</legend>
          {formats.map((format) => (
            <label key={format} className="flex gap-2">
              <input
                type="radio"
                name={`${id}-format`}
                checked={isEditorFormat === (format === "editor")}
                onChange={() => setEditorFormat(format === "editor")}
                aria-describedby={`${id}-${format}`}
                className="mt-0.5 self-start accent-accent"
              />
              <span>
                {t(`format.${format}`)}
                <span id={`${id}-${format}`} className="block text-sm text-ink-2">
                  {t(format === "editor" ? (editor.isOriginalFile ? "format.asItWas" : "format.laidOut") : "format.graphNote")}
                </span>
              </span>
            </label>
          ))}
          {isEditorFormat && unplaced.length > 0 ? (
            <p role="status" className="text-sm text-wait">
              {t("format.unplaced", {
                list: unplaced.slice(0, MAX_LISTED_NAMES).join(", "),
                more: Math.max(0, unplaced.length - MAX_LISTED_NAMES),
              })}
            </p>
          ) : null}
        </fieldset>
      ) : null}
      {isPathTaken ? (
        <p role="alert" className="text-wait">
          {t("taken", { path: path ?? "" })}
        </p>
      ) : null}
      {saveState.isEmpty ? (
        <p role="alert" className="text-bad">
          {t("empty")}
        </p>
      ) : null}
      {saveState.failure ? <FailureMessage failure={saveState.failure} /> : null}
      <FormFooter
        onClose={onClose}
        cancelLabel={t("cancel")}
        tone={isPathTaken ? "danger" : "primary"}
        busy={saveState.isBusy}
        disabled={path === undefined}
        label={t(isPathTaken ? "replace" : "act")}
      />
    </form>
  );
}

// A workflow is stored as the plain graph, which every API client can open, or with its extra data. Integers stay exact. Must never store a
// partner's API key.

const WORKFLOWS_FOLDER = "workflows/";
const MAX_NAME_LENGTH = 200;

export function toStoredText(graph: Graph, extraData: JsonObject | undefined): string {
  const hasExtraData = extraData !== undefined && Object.keys(extraData).length > 0;
  return writeExactJson(hasExtraData ? { prompt: graph, extra_data: extraData } : graph, 2);
}

/** Reads a job's `workflow`; undefined if it contains no graph. */
export function toStoredJobText(workflow: unknown): string | undefined {
  const unwrappedWorkflow = unwrapWorkflow(workflow);
  return unwrappedWorkflow && toStoredText(unwrappedWorkflow.graph, unwrappedWorkflow.extraData);
}

/** The path for a name: a JSON file in the workflows folder. Undefined if the name is invalid. */
export function toStoredPath(name: string): string | undefined {
  const trimmedName = name
    .trim()
    .replace(/^\/+/, "")
    .replace(/\.json$/i, "");
  const segments = trimmedName.split("/");
  const isInvalid =
    segments.some((part) => part.trim() === "" || /^\.+$/.test(part)) ||
    /[\\\p{Cc}]/u.test(trimmedName) ||
    trimmedName.length > MAX_NAME_LENGTH;
  return isInvalid ? undefined : `${WORKFLOWS_FOLDER}${trimmedName}.json`;
}

/** The name for a path; undefined if there is none. */
function toName(path: string | undefined): string | undefined {
  if (!path?.startsWith(WORKFLOWS_FOLDER)) return undefined;
  const name = path.slice(WORKFLOWS_FOLDER.length).replace(/\.json$/, "");
  return toStoredPath(name) === path ? name : undefined;
}

/** Creates a valid file name from the workflow's title. */
export function toFileName(title: string): string {
  return truncateToBytes(title, MAX_NAME_LENGTH)
    .replace(/[/\\:*?"<>|\p{Cc}\p{Cs}]/gu, "_")
    .replace(/^\.+/, "_");
}

/** Truncates by bytes, since file systems limit bytes. */
function truncateToBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= maxBytes ? text : new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\uFFFD+$/, "");
}
