/** All clients that name their sessions, one line each. */
import { claudeAgentSdk } from './claude-agent-sdk.ts';
import { claudeCode, claudeCodeProbes } from './claude-code.ts';
import type { Client } from './client.ts';
import { codex } from './codex.ts';
import { opencode } from './opencode.ts';
import { pi, piBefore1 } from './pi.ts';

export const CLIENTS: readonly Client[] = Object.freeze([
  claudeCode,
  claudeCodeProbes,
  claudeAgentSdk,
  codex,
  opencode,
  pi,
  piBefore1,
]);
