// Node classes of a current local server: choices that add inputs, growing lists, boxes, colours, video and audio files, and texts that are filled
// in on sending.

const size = (name: string) => ({ [name]: ["INT", { default: 512, min: 1, max: 4096 }] });
const grows = (each: object, overrides: object) => ["COMFY_AUTOGROW_V3", { template: { input: { required: each }, ...overrides } }];

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
              { key: "width", inputs: { required: size("width") } },
              { key: "longer", inputs: { required: size("longer_size") } },
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
        images: grows({ image: ["IMAGE", {}] }, { prefix: "image", min: 2, max: 5 }),
        words: grows({ word: ["STRING", {}] }, { names: ["a", "b", "c", "d"], min: 0 }),
        weights: grows({ weight: ["FLOAT", { min: 0, max: 1 }] }, { prefix: "weight", min: 1, max: 3 }),
      },
    },
    output: ["IMAGE"],
  },
  SaveImage: { output_node: true, input: { required: { images: ["IMAGE", {}], filename_prefix: ["STRING", {}] } } },
  SaveVideo: { output_node: true, input: { required: { video: ["VIDEO", {}], codec: ["COMBO", { options: ["auto", "h264"] }] } } },
  PreviewAudio: { output_node: true, input: { required: { audio: ["AUDIO", {}] } } },
};
