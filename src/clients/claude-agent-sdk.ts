/** The Claude Agent SDK, which runs Claude Code inside: `claude-cli/2.1.332 (external, sdk-ts, agent-sdk/0.3.332)`. */
import { readClaudeCodeAgent } from './claude-code-agent.ts';
import type { Client } from './client.ts';

export const claudeAgentSdk: Client = Object.freeze({
  name: 'claude-agent-sdk',
  userAgent: /^claude-cli\/.*\bagent-sdk\//,
  readAgent: readClaudeCodeAgent,
});
