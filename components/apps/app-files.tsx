// Files of an app's inputs and their URLs. Members who can run the app can use them without access to the service's files.

import { useTranslations } from "next-intl";
import { AssetChoices, ChoicesSkeleton } from "@/components/frame/asset-choices";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { type MaskTarget } from "@/components/mask/file/mask-source";
import { type PickerProps, type SendPicture } from "@/components/run/form/controls/picture-api";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { upload } from "@/lib/browser/uploads/upload";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { useRead } from "@/lib/browser/use-read";
import { type AppField, type AppFileResponse, type AppPicture } from "@/lib/contract/apps/app";
import { type AppProblem, createProblem, isFileKind } from "@/lib/contract/apps/fill";
import { toImageValue } from "@/lib/contract/assets/file-refs";
import { getOwn } from "@/lib/contract/json/json";
import { getAppApiPath } from "./apps-urls";

/** Creates the upload function for an input, since each input has its own file types and limits. */
export function createAppFileSender(app: string, input: string): SendPicture {
  return (file, options) => {
    const form = new FormData();
    // Fields precede the file, so that a streaming parser can route it.
    form.set("input", input);
    form.set("file", file, file.name);
    return upload<AppFileResponse>(getAppApiPath(app, "files"), { form, ...options });
  };
}

export function getAppFileUrl(app: string, name: string, edge?: 256 | 512): string {
  return apiPath(withQuery(getAppApiPath(app, "files"), { name, edge }));
}

/** Finds values whose files are missing or no longer available to this member. */
export async function findFileProblems(
  app: string,
  inputs: readonly AppField[],
  values: Readonly<Record<string, unknown>>,
): Promise<AppProblem[]> {
  const checks = inputs.map(async (input): Promise<AppProblem[]> => {
    const value = isFileKind(input.control.kind) ? getOwn(values, input.name) : undefined;
    if (typeof value !== "string" || value === "") return [];
    // A failed request doesn't mean that the file is missing.
    const response = await fetch(getAppFileUrl(app, value), { method: "HEAD" }).catch(() => undefined);
    return response?.status === 404 ? [createProblem(input, "not_yours")] : [];
  });
  return (await Promise.all(checks)).flat();
}

/** URLs that the mask editor uses for the app's pictures. */
export function createMaskTarget(app: string): MaskTarget {
  return {
    getUrl: ({ filename, subfolder, type }) => getAppFileUrl(app, toImageValue({ name: filename, subfolder, type })),
    savePath: getAppApiPath(app, "masks"),
  };
}

type AppPicturePickerProps = PickerProps & { app: string };

/** Lets members without asset access choose from the app's examples and their own uploads and results. */
export function AppPicturePicker({ isOpen, onClose, ...choicesProps }: AppPicturePickerProps) {
  const t = useTranslations("apps.pictures");
  const common = useTranslations("common");
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("title")}
      actions={<Button onClick={onClose}>{common("cancel")}</Button>}
      className="w-[min(880px,calc(100vw-24px))]"
    >
      <AppPictureChoices {...choicesProps} />
    </Dialog>
  );
}

const origins = ["example", "made", "given"] as const;

function AppPictureChoices({ app, onPicked }: Pick<AppPicturePickerProps, "app" | "onPicked">) {
  const t = useTranslations("apps.pictures");
  const path = getAppApiPath(app, "pictures");
  const { data, error, mutate } = useRead(path, () => callApi<{ pictures: AppPicture[] }>(path, { cache: "no-store" }));
  if (error) return <FailureMessage failure={error} onRetry={() => void mutate()} />;
  if (!data) return <ChoicesSkeleton label={t("loading")} count={6} />;
  if (data.pictures.length === 0) return <p className="py-8 text-center text-ink-2">{t("none")}</p>;
  return (
    <div className="flex flex-col gap-4 text-ink">
      {origins.map((origin) => {
        const pictures = data.pictures.filter(({ from }) => from === origin);
        return pictures.length === 0 ? null : (
          <section key={origin} aria-label={t(origin)} className="flex flex-col gap-1.5">
            <h3 className="font-semibold">{t(origin)}</h3>
            <AssetChoices
              label={t(origin)}
              assets={pictures.map(({ value, name }) => ({ id: value, name }))}
              getSrc={(value) => getAppFileUrl(app, value, 256)}
              onClick={(value) => {
                const picture = pictures.find((picture) => picture.value === value);
                if (picture) onPicked(picture);
              }}
            />
          </section>
        );
      })}
    </div>
  );
}
