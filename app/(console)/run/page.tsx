import { createConsolePage } from "@/app/(console)/console-page";
import { isSample } from "@/components/frame/samples/samples";
import { RunScreen } from "@/components/run/run-screen";
import { type RunSource } from "@/components/run/workflow/run-sources";
import { createPageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = createPageTitle("run.title");

export default createConsolePage(["run", "acts", "samples", "graph", "masks", "viewer"], ({ viewer: { memberId, can } }, { search }) => (
  <RunScreen memberId={memberId} source={toRunSource(search)} canRun={can("operator")} />
));

const MAX_ID_LENGTH = 200;
/** Limited, because each asset costs a request. */
const MAX_ASSETS = 100;

/**
 * Parses ?job=ID (&without=secrets), ?file=workflows/x.json, ?carrier=ID, ?sample=NAME, ?app=ID, ?asset=ID or ?assets=ID,ID. Without any of
 * these, the page is empty.
 */
function toRunSource({ job, without, file, carrier, sample, app, asset, assets }: Record<string, unknown>): RunSource | undefined {
  if (isId(job)) return { job, ...(without === "secrets" && { without }) };
  if (typeof file === "string" && file !== "" && file.length <= 2000) return { file };
  if (isId(carrier)) return { carrier };
  if (isSample(sample)) return { sample };
  if (isId(app)) return { app };
  const ids = [asset, ...(typeof assets === "string" ? assets.split(",") : [])].filter(isId);
  return ids.length > 0 ? { assets: [...new Set(ids)].slice(0, MAX_ASSETS) } : undefined;
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_LENGTH;
}
