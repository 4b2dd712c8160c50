// An app's own files: what its inputs are given, and where they are shown from. Members who may run the app may use them without any right
// to the service's files.

import { useTranslations } from "next-intl";
import useSWR from "swr";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { type MaskPlace } from "@/components/mask/file/picture-file";
import { AssetChoices } from "@/components/run/form/controls/asset-choices";
import { type PickerProps, type SendPicture } from "@/components/run/form/controls/picture-api";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { Skeleton } from "@/components/ui/skeleton";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { upload } from "@/lib/browser/uploads/upload";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type AppField, type AppFileAnswer, type AppPicture } from "@/lib/contract/apps/app";
import { type AppProblem, isFileKind, problemOf } from "@/lib/contract/apps/fill";
import { toImageValue } from "@/lib/contract/assets/file-refs";
import { own } from "@/lib/contract/json/own";
import { appApi } from "./apps-address";

/** `input`: the input that gets the file, as each has its own kinds and limits. */
export function sendAppFile(app: string, input: string): SendPicture {
  return (file, options) => {
    const form = new FormData();
    // Fields before the bytes, so that a streaming reader knows where they go.
    form.set("input", input);
    form.set("file", file, file.name);
    return upload<AppFileAnswer>(appApi(app, "files"), { form, ...options });
  };
}

export function fileAddress(app: string, name: string, edge?: 256 | 512): string {
  return apiPath(withQuery(appApi(app, "files"), { name, edge }));
}

/** Which stored values name files that the service no longer has, or that are no longer kept for this member. */
export async function filesGone(
  app: string,
  inputs: readonly AppField[],
  values: Readonly<Record<string, unknown>>,
): Promise<AppProblem[]> {
  const asked = inputs.map(async (input): Promise<AppProblem[]> => {
    const value = isFileKind(input.control.kind) ? own(values, input.name) : undefined;
    if (typeof value !== "string" || value === "") return [];
    // A failed request says nothing about the file.
    const answer = await fetch(fileAddress(app, value), { method: "HEAD" }).catch(() => undefined);
    return answer?.status === 404 ? [problemOf(input, "not_yours")] : [];
  });
  return (await Promise.all(asked)).flat();
}

/** Masks on pictures that may be given to the app. */
export function masksOf(app: string): MaskPlace {
  return {
    urlOf: ({ filename, subfolder, type }) => fileAddress(app, toImageValue({ name: filename, subfolder, type })),
    saveAt: appApi(app, "masks"),
  };
}

type OwnPicturesProps = PickerProps & { app: string };

/** What members who see no assets may choose from: the app's examples, and their own uploads and results. */
export function OwnPictures({ isOpen, onClose, ...body }: OwnPicturesProps) {
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
      <Body {...body} />
    </Dialog>
  );
}

const kinds = ["example", "made", "given"] as const;

function Body({ app, onPicked }: Pick<OwnPicturesProps, "app" | "onPicked">) {
  const t = useTranslations("apps.pictures");
  const read = async (path: `/${string}`) => {
    const answer = await callApi<{ pictures: AppPicture[] }>(path, { cache: "no-store" });
    if (!answer.ok) throw answer.failure;
    return answer.value.pictures;
  };
  const { data, error, mutate } = useSWR<AppPicture[], ApiFailure>(appApi(app, "pictures"), read, { shouldRetryOnError: false });
  if (error) return <FailureMessage failure={error} onRetry={() => void mutate()} />;
  if (!data)
    return (
      <div role="status" aria-label={t("loading")} className="grid grid-cols-3 gap-2.5 sm:grid-cols-5 md:grid-cols-6">
        {Array.from({ length: 6 }, (_, place) => (
          <Skeleton key={place} className="aspect-[4/3] w-full" />
        ))}
      </div>
    );
  if (data.length === 0) return <p className="py-8 text-center text-ink-2">{t("none")}</p>;
  return (
    <div className="flex flex-col gap-4 text-ink">
      {kinds.map((kind) => {
        const pictures = data.filter(({ from }) => from === kind);
        return pictures.length === 0 ? null : (
          <section key={kind} aria-label={t(kind)} className="flex flex-col gap-1.5">
            <h3 className="font-semibold">{t(kind)}</h3>
            <AssetChoices
              assets={pictures.map(({ value, name }) => ({ id: value, name }))}
              srcOf={(value) => fileAddress(app, value, 256)}
              onClick={(value) => {
                const picture = pictures.find((one) => one.value === value);
                if (picture) onPicked(picture);
              }}
            />
          </section>
        );
      })}
    </div>
  );
}
