/** What a tool is: its name and words for the model, the form of what it takes, and its work. */
import type { z } from 'zod';
import type { AskApi, ReadScope } from './ask-api.ts';
import type { ToolResult } from './tool-result.ts';

interface ToolWords {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

export interface Tool extends ToolWords {
  readonly input: z.ZodObject;
  /** Throws a ToolError for what the caller can mend. */
  readonly run: (given: unknown, ask: AskApi, scope: ReadScope) => Promise<ToolResult>;
}

interface ToolWork<Input extends z.ZodObject> extends ToolWords {
  readonly input: Input;
  readonly run: (input: z.infer<Input>, ask: AskApi, scope: ReadScope) => Promise<ToolResult>;
}

/** Types `run` by the form of its input. */
export function defineTool<Input extends z.ZodObject>(tool: ToolWork<Input>): Tool {
  return { ...tool, run: (given, ask, scope) => tool.run(tool.input.parse(given), ask, scope) };
}
