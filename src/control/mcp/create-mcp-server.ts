/** The MCP server over the log. Its tools ask the admin API, so that there is one way of asking. */
import { McpServer } from '@modelcontextprotocol/server';
import type { AskApi, ReadScope } from './ask-api.ts';
import { explainCost } from './explain-cost.ts';
import { getCall } from './get-call.ts';
import { getCosts } from './get-costs.ts';
import { getRun } from './get-run.ts';
import { listCalls, searchCalls } from './list-calls.ts';
import { listOpenCalls } from './list-open-calls.ts';
import { listRuns } from './list-runs.ts';
import type { Tool } from './tool.ts';
import { runTool } from './tool-result.ts';

export interface McpServerParts {
  readonly ask: AskApi;
  /** What the token or the flags say. */
  readonly scope: Omit<ReadScope, 'keyIds'> & { readonly keyId: number | null };
  /** All numbers of that key, read at each question: it may be rotated meanwhile. */
  readonly listKeyIds: (keyId: number) => Promise<readonly number[]>;
  readonly version: string;
  readonly onDefect: (error: unknown) => void;
}

/** One for each request over HTTP, one for the connection over stdio. */
export function createMcpServer(parts: McpServerParts): McpServer {
  const server = new McpServer({ name: 'tollgate', version: parts.version }, { instructions: describe(parts.scope) });
  add(server, parts, explainCost);
  add(server, parts, listRuns);
  add(server, parts, getRun);
  add(server, parts, listCalls);
  add(server, parts, searchCalls);
  add(server, parts, getCall);
  add(server, parts, getCosts);
  add(server, parts, listOpenCalls);
  return server;
}

function describe({ keyId, hasTexts }: McpServerParts['scope']): string {
  const calls =
    keyId === null ? 'all calls of the account' : `the calls of gateway key ${keyId} only, and of its rotations`;
  const texts = hasTexts ? 'with the text of prompts and answers' : 'without the text of prompts and answers';
  return `The log of a gateway for language models: ${calls}, ${texts}. Everything is read-only. Money is US dollars as decimal text; null means not known, never zero.`;
}

function add(server: McpServer, { ask, scope, listKeyIds, onDefect }: McpServerParts, tool: Tool): void {
  const { name, title, description, input } = tool;
  const { keyId, ...rest } = scope;
  const answer = async (given: unknown) =>
    tool.run(given, ask, { ...rest, keyIds: keyId === null ? null : await listKeyIds(keyId) });
  server.registerTool(
    name,
    { title, description, inputSchema: input, annotations: { readOnlyHint: true, openWorldHint: false } },
    (given) => runTool(() => answer(given), onDefect),
  );
}
