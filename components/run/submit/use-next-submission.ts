import { useCallback, useEffect, useEffectEvent, useMemo, useState } from "react";
import { containsTime, type FilledText, type FillOptions, fillTexts } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type FormNode, newSeeds, withInputs } from "../form/form-model";
import { type InEditorFile } from "../workflow/editor-file";

const TICK_MS = 1_000;

/** A reload starts with another draw of texts and seeds. */
const randomDraw = () => Math.floor(Math.random() * 2 ** 31);

type Form = {
  graph: Graph;
  form: readonly FormNode[];
  info: ObjectInfo | undefined;
  isRandomised: (nodeId: string, name: string) => boolean;
  rawTexts?: readonly string[];
  /** The graph editor's file; filled-in texts refer to inputs by its node names. */
  inFile: InEditorFile | undefined;
};

const noRawTexts: readonly string[] = [];

function withoutRaw(texts: FilledText[], raw: readonly string[]): FilledText[] {
  return texts.filter(({ nodeId, name }) => !raw.includes(`${nodeId} ${name}`));
}

/** How the next run differs from the form. Decided before Run is clicked, so that the shown values are the ones sent. */
export function useNextSubmission({ graph, form, info, isRandomised, rawTexts = noRawTexts, inFile }: Form) {
  const [draw, setDraw] = useState(randomDraw);
  const [shownTime, setShownTime] = useState(() => new Date());
  // Each copy gets its own seeds.
  const getSeeds = useCallback((copy = 0) => newSeeds(form, isRandomised, draw + copy), [form, isRandomised, draw]);
  const filledAt = useCallback(
    (now: Graph, filling: FillOptions) => {
      const widgetsOf = inFile && ((writtenGraph: Graph) => inFile(writtenGraph).widgetOf);
      return withoutRaw(fillTexts(now, info, filling, widgetsOf), rawTexts);
    },
    [info, rawTexts, inFile],
  );
  const fill = useCallback((now: Graph, copy = 0) => filledAt(now, { at: shownTime, draw: draw + copy }), [filledAt, shownTime, draw]);
  const seeds = useMemo(() => getSeeds(), [getSeeds]);
  const seeded = useMemo(() => withInputs(graph, seeds), [graph, seeds]);
  const filled = useMemo(() => fill(seeded), [fill, seeded]);
  const texts = useMemo<FilledText[]>(
    () => [...seeds.map(({ nodeId, name, value }) => ({ nodeId, name, text: String(value) })), ...filled],
    [seeds, filled],
  );
  const isTimed = containsTime(graph);
  const tick = useEffectEvent(() => {
    const now = new Date();
    const next = filledAt(seeded, { at: now, draw });
    if (next.some(({ text }, index) => text !== filled[index]?.text)) setShownTime(now);
  });
  useEffect(() => {
    if (!isTimed) return;
    const timer = setInterval(() => tick(), TICK_MS);
    return () => clearInterval(timer);
  }, [isTimed]);
  return {
    texts,
    getSeeds,
    fill,
    look: () => setShownTime(new Date()),
    /** Called after `count` jobs were sent: the next ones get new seeds and texts. */
    drawn: (count: number) => setDraw(draw + count),
  };
}
