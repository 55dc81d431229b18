/** Claude Code, Anthropic's coding agent: `claude`. */
import { readClaudeCodeAgent } from './claude-code-agent.ts';
import type { Client, HeaderReader } from './client.ts';

export const claudeCode: Client = Object.freeze({
  name: 'claude-code',
  // Its list of models comes from `claude-code/…`.
  userAgent: /^claude-(?:cli|code)\/(?!.*\bagent-sdk\/)/,
  readAgent: readClaudeCodeAgent,
});

/** On Bedrock its probes carry the user agent of an SDK whose class has a minified name: `WGr/JS 0.94.0`. */
export const claudeCodeProbes: Client = Object.freeze({
  ...claudeCode,
  userAgent: /^[\w$]{1,4}\/JS /,
  isOwn: (header: HeaderReader) => header('x-app')?.startsWith('cli') === true,
});
