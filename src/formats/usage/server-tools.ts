/** `server_tool_use`: the tools that a provider ran and bills by the request, as Anthropic, OpenAI and DeepSeek report them. */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { readCount, readObject } from './read-json.ts';

export interface ServerTools {
  readonly webSearches: number | null;
  readonly webFetches: number | null;
  readonly codeExecutions: number | null;
  /** A tool without a class here was used, and may be billed. */
  readonly hasUnknown: boolean;
}

const KNOWN: readonly string[] = ['web_search_requests', 'web_fetch_requests', 'code_execution_requests'];

export function readServerTools(native: JsonObject): ServerTools {
  const tools = readObject(native, 'server_tool_use') ?? {};
  return {
    webSearches: readCount(tools, 'web_search_requests'),
    webFetches: readCount(tools, 'web_fetch_requests'),
    codeExecutions: readCount(tools, 'code_execution_requests'),
    hasUnknown: Object.keys(tools).some((name) => !KNOWN.includes(name) && (readCount(tools, name) ?? 0) > 0),
  };
}
