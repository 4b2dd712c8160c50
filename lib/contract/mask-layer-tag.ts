/** What the embedded service keeps of a saved mask beside its result carries this tag: nobody looks for it, so lists leave it out until somebody asks. */
export const MASK_LAYER_TAG = "mask-layer";
