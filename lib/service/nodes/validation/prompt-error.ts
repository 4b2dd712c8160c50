// The error that refuses a whole prompt, in the shape that POST /api/prompt answers.

export type PromptError = { type: string; message: string; details: string; extra_info: Record<string, unknown> };
