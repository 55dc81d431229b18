/** The ids that Claude Code sends, alone and inside the Agent SDK, which is built on it. */

import { readTraceparent } from '../formats/wire/trace-context.ts';
import type { AgentOfCall, HeaderReader } from './client.ts';
import { readId } from './read-id.ts';

/**
 * Source: Claude Code 2.1.197, captured. The main agent sends no agent id, a sub-agent its own, and one that a sub-agent
 * started its parent's as well. With telemetry on, each of a person's messages has a trace of its own.
 */
export function readClaudeCodeAgent(header: HeaderReader): AgentOfCall | null {
  const session = readId(header('x-claude-code-session-id'));
  if (session === null) return null;
  const agent = readId(header('x-claude-code-agent-id'));
  const parent = agent === null ? null : readId(header('x-claude-code-parent-agent-id'));
  const agents = agent === null ? [] : parent === null ? [agent] : [parent, agent];
  return { session, agents, agentTurn: readTraceparent(header('traceparent')) };
}

const OLDER_USER_ID = /_session_([\da-f-]{36})$/;

/**
 * The session in the request's `metadata.user_id`: a JSON object in a text, before 2.1 one with `_session_` in it. Null for
 * what other programs have there.
 */
export function readSessionOfUserId(userId: string): string | null {
  if (!userId.startsWith('{')) return readId(OLDER_USER_ID.exec(userId)?.[1]);
  try {
    const value: unknown = JSON.parse(userId);
    return typeof value === 'object' && value !== null && 'session_id' in value ? readId(value.session_id) : null;
  } catch {
    return null;
  }
}
