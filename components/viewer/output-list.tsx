import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { Picture } from "@/components/ui/pictures/picture";
import { FileName } from "@/components/ui/truncated";
import { createThumbnailUrl, createViewUrl } from "@/lib/browser/urls";
import { type OutputView } from "@/lib/contract/views/outputs-view";
import { OutputMedia } from "./output-media";
import { useViewing, type ViewerItem } from "./use-viewing";

const Viewer = dynamic(() => import("./viewer").then((module) => module.Viewer), { ssr: false });

/** `node`: the name of the node that created it. */
type NamedOutput = { view: OutputView; node: string };

/** `isSmall`: the list covers a part of the page. */
type OutputListProps = { outputs: readonly NamedOutput[]; connection?: string; isSmall?: boolean };

/** Shows pictures as thumbnails that open in the viewer, and other outputs as players, texts or files. */
export function OutputList({ outputs, connection, isSmall = false }: OutputListProps) {
  const t = useTranslations("viewer.output");
  const pictures = outputs.flatMap(({ view, node }) => (view.kind === "image" && view.file ? [{ view, node, file: view.file }] : []));
  const viewerState = useViewing({
    indexOf: (id) => pictures.findIndex(({ view }) => getOutputKey(view) === id),
    getId: (index) => pictures[index] && getOutputKey(pictures[index].view),
  });
  const otherOutputs = outputs.filter(({ view }) => view.kind !== "image" || !view.file);
  const isSingle = pictures.length === 1;
  const getItem = (index: number): ViewerItem | undefined => {
    const picture = pictures[index];
    if (!picture) return undefined;
    const { view, node, file } = picture;
    const poster = createThumbnailUrl({ connection, file, edge: isSingle ? 1024 : 512 });
    return { id: getOutputKey(view), name: view.name, kind: "image", src: createViewUrl({ ...file, connection }), poster, note: node };
  };
  return (
    <>
      {pictures.length > 0 ? (
        <ul
          className={cn(
            "grid gap-3",
            isSingle
              ? isSmall
                ? "max-w-[min(100%,calc(4/3*min(380px,38*var(--dvh))))]"
                : "max-w-[640px]"
              : "grid-cols-[repeat(auto-fill,minmax(min(220px,100%),1fr))]",
          )}
        >
          {pictures.map(({ view, node, file }, index) => (
            <li key={getOutputKey(view)} className="min-w-0">
              <button type="button" onClick={() => viewerState.open(index)} className="block w-full rounded-sm text-left">
                <Picture
                  src={createThumbnailUrl({ connection, file, edge: isSingle ? 1024 : 512 })}
                  alt={t("open", { name: view.name })}
                  width={512}
                  height={384}
                  fit="contain"
                  className="aspect-[4/3] h-auto w-full"
                />
                <span className="mt-1 flex items-baseline gap-2">
                  <span title={view.name} className="min-w-0 flex-1 truncate">
                    <FileName name={view.name} />
                  </span>
                  <span className="text-sm text-ink-3">{view.temporary ? t("temporary") : node}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      {otherOutputs.length > 0 ? (
        <ul className="flex flex-col gap-3">
          {otherOutputs.map(({ view, node }) => (
            <OutputMedia key={getOutputKey(view)} view={view} node={node} connection={connection} />
          ))}
        </ul>
      ) : null}
      {viewerState.at === undefined ? null : (
        <Viewer count={pictures.length} index={viewerState.at} getItem={getItem} onMove={viewerState.move} onClose={viewerState.close} />
      )}
    </>
  );
}

function getOutputKey({ nodeId, key, index }: OutputView): string {
  return `${nodeId}/${key}/${index}`;
}
