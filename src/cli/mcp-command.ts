/** `tollgate mcp`: the log for an agent on this machine, over standard input and output. */

import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { ToolError } from '../control/mcp/ask-api.ts';
import { createMcpServer } from '../control/mcp/create-mcp-server.ts';
import { createCursorSeal } from '../control/mcp/cursor-seal.ts';
import { readKeyIds } from '../control/mcp/read-key-ids.ts';
import { messageOf, OperatorError } from '../vocabulary/errors.ts';
import { readVersion } from '../vocabulary/version.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';

const ANSWER_LIMIT_MS = 60_000;

interface McpFlags extends ClientFlags {
  readonly key?: string;
  readonly texts?: true;
}

async function serve(flags: McpFlags): Promise<void> {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  const client = createGatewayClient(flags);
  if (flags.key !== undefined && !/^[1-9]\d{0,8}$/.test(flags.key))
    throw new OperatorError(`--key: "${flags.key}" is not the id of a key; \`tollgate keys list\` shows them`);
  const scope = {
    keyId: flags.key === undefined ? null : Number(flags.key),
    hasTexts: flags.texts === true,
    // They hold as long as the connection.
    cursors: createCursorSeal(randomBytes(32).toString('base64')),
  };
  // Standard output belongs to the protocol.
  const onDefect = (error: unknown): void => void process.stderr.write(`tollgate: ${messageOf(error)}\n`);
  const ask = async (path: string) => {
    try {
      const answer = await client.read(path, AbortSignal.timeout(ANSWER_LIMIT_MS));
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    } catch (error) {
      // The gateway may be back at the next question.
      throw error instanceof OperatorError ? new ToolError(error.message) : error;
    }
  };
  const listKeyIds = (keyId: number) => readKeyIds(ask, keyId);
  serveStdio(() => createMcpServer({ ask, scope, listKeyIds, version: readVersion(), onDefect }));
}

export function addMcpCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('mcp'))
    .description('let an agent on this machine ask the log: an MCP server on standard input and output (docs/mcp.md)')
    .addOption(new Option('--key <id>', 'only the calls of this gateway key, and of its rotations'))
    .option('--texts', 'let it read and search the text of prompts and answers')
    .addHelpText('after', '\nExample:\n  claude mcp add tollgate -- tollgate mcp')
    .action((flags: McpFlags) => serve(flags));
}
