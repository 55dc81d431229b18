/** Results of tools: JSON of a bounded size, or an error that the caller can act on. */
import { z } from 'zod';
import { ToolError } from './ask-api.ts';

/** About 10,000 tokens, which is what clients take without a warning. */
const MAX_RESULT_CHARS = 40_000;

export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly isError?: true;
  readonly [more: string]: unknown;
}

export function showJson(value: unknown): ToolResult {
  const text = JSON.stringify(value);
  if (text.length > MAX_RESULT_CHARS)
    throw new ToolError(`The answer has ${text.length} characters, and ${MAX_RESULT_CHARS} is the most: ask for less.`);
  return { content: [{ type: 'text', text }] };
}

/** Errors that are known are told; anything else is a defect, of which the caller learns nothing more. */
export async function runTool(
  work: () => Promise<ToolResult>,
  onDefect: (error: unknown) => void,
): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolError) return { isError: true, content: [{ type: 'text', text: error.message }] };
    onDefect(error);
    const text =
      error instanceof z.ZodError ? 'The gateway’s answer could not be read.' : 'The gateway failed on this question.';
    return { isError: true, content: [{ type: 'text', text }] };
  }
}

/**
 * Asks for fewer rows until the answer fits, so that the cursor of a page goes on behind the last row shown. `kept`: the
 * share of the rows that is tried next.
 */
export async function showFitting(
  limit: number,
  ask: (limit: number) => object | Promise<object>,
  kept = 1 / 2,
): Promise<ToolResult> {
  for (let rows = limit; ; rows = Math.floor(rows * kept)) {
    const answer = await ask(rows);
    if (rows <= 1 || JSON.stringify(answer).length <= MAX_RESULT_CHARS) return showJson(answer);
  }
}
