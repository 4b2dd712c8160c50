// Node classes of a current local server: choices that add inputs, growing lists, boxes, colours, video and audio files, and texts that are filled
// in on sending.

const createSizeInput = (name: string) => ({ [name]: ["INT", { default: 512, min: 1, max: 4096 }] });
const createGrowingInput = (item: object, overrides: object) => [
  "COMFY_AUTOGROW_V3",
  { template: { input: { required: item }, ...overrides } },
];

export const newerNodes = {
  LoadImage: { input: { required: { image: [["there.png"], { image_upload: true }] } }, output: ["IMAGE"] },
  LoadVideo: { input: { required: { file: ["COMBO", { options: ["there.mp4", "other.mp4"], video_upload: true }] } }, output: ["VIDEO"] },
  LoadAudio: { input: { required: { audio: [["there.flac"], { audio_upload: true }] } }, output: ["AUDIO"] },
  ImageInvert: { input: { required: { image: ["IMAGE", {}] } }, output: ["IMAGE"] },
  Resize: {
    input: {
      required: {
        image: ["IMAGE", {}],
        resize_type: [
          "COMFY_DYNAMICCOMBO_V3",
          {
            options: [
              { key: "width", inputs: { required: createSizeInput("width") } },
              { key: "longer", inputs: { required: createSizeInput("longer_size") } },
            ],
          },
        ],
        method: ["COMBO", { options: ["area", "bilinear"] }],
        words: ["STRING", { dynamicPrompts: true }],
      },
    },
    output: ["IMAGE"],
  },
  Crop: {
    input: {
      required: {
        image: ["IMAGE", {}],
        crop: ["BOUNDING_BOX", {}],
        fill: ["COLOR", { default: "#ffffff" }],
        color: ["INT", { default: 0, min: 0, max: 0xffffff, display: "color" }],
        sizes: ["*", {}],
      },
    },
    output: ["IMAGE"],
  },
  Batch: {
    input: {
      required: {
        images: createGrowingInput({ image: ["IMAGE", {}] }, { prefix: "image", min: 2, max: 5 }),
        words: createGrowingInput({ word: ["STRING", {}] }, { names: ["a", "b", "c", "d"], min: 0 }),
        weights: createGrowingInput({ weight: ["FLOAT", { min: 0, max: 1 }] }, { prefix: "weight", min: 1, max: 3 }),
      },
    },
    output: ["IMAGE"],
  },
  SaveImage: { output_node: true, input: { required: { images: ["IMAGE", {}], filename_prefix: ["STRING", {}] } } },
  SaveVideo: { output_node: true, input: { required: { video: ["VIDEO", {}], codec: ["COMBO", { options: ["auto", "h264"] }] } } },
  PreviewAudio: { output_node: true, input: { required: { audio: ["AUDIO", {}] } } },
};
